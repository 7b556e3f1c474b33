"""Stories in an editor: what there is to show and to do, as values; `server` and `wire` speak the Language Server Protocol."""
