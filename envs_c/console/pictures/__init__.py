"""From the TIA's lines to pictures: which frames are drawn, colours, and the 84x84 grey ones."""
