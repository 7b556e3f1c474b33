"""Stories in an editor: what there is to show and to do, as values; only `server` speaks the Language Server Protocol."""
