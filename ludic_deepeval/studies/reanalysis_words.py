"""In words: why a recomputed figure differs from the printed one, and what this project does about it."""

from typing import Final

WHY: Final = {
    # The nine that disagree.
    "vi.detector_as_printed": (
        "The rule as worded counts capitals “in non-initial position”, so that it skips “Kaelen’s”, finds 4 of 14 tokens and accepts"
        " the sentence that the same section rejects with 5 of 14. It also says that the rule over-counts sentence-initial names, which"
        " it cannot do. `vagueness.measure` counts a sentence-initial capital that belongs to a known name, and gives 1/14 and 5/14."
    ),
    "cal.det": (
        "0.843 is 1.57 % away from 0.83 (1.54 % of 0.843), not within 1.5 %; it is 1.3 points of the scale. `ludic crosscheck` states"
        " differences as shares of LPI's range, where no base has to be chosen."
    ),
    "pilot.n": (
        "The pilot has six samples; “the same n=40 smoke” cannot be the same data. Nothing here depends on either correlation."
    ),
    "baseline.t": (
        "Two groups of 40 have at most 78 degrees of freedom, where every t that rounds to 1.53 has p of at least .1288. .128 needs about"
        " 156, the residual of a four-cell ANOVA, so that the contrast was pooled and is no two-sample test. `welch_t` reports its own"
        " degrees of freedom with every p."
    ),
    "counts.8b": (
        "+1.13 and −0.32 add up to +0.81, and rounding reaches .80. The total may count Ambiguous entities, which E_a leaves out, and then"
        " they fell by .03. Sessions here count every entity under its label, the ambiguous apart."
    ),
    "gate_all_families": (
        "The same paragraph has the gate cost G-4B 1.26 positions on LPI, so that it improves LPI rankings in four families of five."
    ),
    "r.Q4.holm": (
        "Holm multiplies the smallest of four by four: r = .36 with 60 items gives .0095, and every r that rounds to .36 at least .0083. .006"
        " needs r = .377. A resampling test might differ, and none is named. The conclusion (below .05) stands. `pearson_r` names its test in"
        " `method`, and `holm` takes all four."
    ),
    "ahp.inside_sweep": (
        "±50 % and renormalising reaches vectors whose largest ratio to the default is at most 3 times their smallest, and ±20 % 1.5 times. The"
        " experts' vector stands at 3.14 (2.2 for TH over 0.7 for MV), so that no draw of the sweep is as far away: the sweep does not license"
        " “perturbations far larger than this”. Score the corpus under the vector itself: `weights = [0.34, 0.21, 0.23, 0.22]` in `ludic.toml`."
    ),
    "pcv.threshold": (
        "§3.5 says “exceeds 150” and that below 100 a draft is regenerated, §3.1, 4.2 and 5.1 have “at least 150” for both. §4.2 is what the"
        " studies ran: at least 150 passes, and below it the loop rewrites (`Policy.pcv_threshold`)."
    ),
    # Left open.
    "cal.rubric": "2.02 % of .843 and 1.98 % of .860: which of the two is the base decides whether it is within 2 %.",
    "shaffer.next": (
        "A gap of 2.15 is above the critical difference of 2.142 and its Shaffer p above .05: by Nemenyi five pairs differ, by Shaffer the"
        " four that are printed. Both are reported here, each under its name."
    ),
    "power.t": (
        "“The main contrast” of 80 against 80 has power .88 for d = .5; H1a, the primary hypothesis, compares 40 with 40 and has .72."
        " It would need 51 in each cell, or d = .56."
    ),
    # Remarks.
    "pilot.Ea": "The pilot's E_a is of an older formula and outside the range of Eq 12; it cannot be compared.",
    "llama_vs_8b": (
        "1.96 is below the critical difference, and the pair is none of the four: the ranking does not tell the two apart, although §5.12"
        " has them “straddle the capability boundary”."
    ),
    "bottom": "Of the two 4B configurations at the bottom one is ungated, and ranks below the gated 8B.",
    "r.Q3.holm": "Three times .039 is .117, which is no near miss.",
    "r.Q4.ci": "Fisher's interval, for comparison: the printed one is a bootstrap's and as wide.",
    "abstract.trio": "The abstract has 31 runs select “the same set”; 31 include the three, and 16 select exactly them.",
}
