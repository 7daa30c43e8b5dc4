"""The processor, a 6507, with what is on its bus: the RIOT with RAM, ports and timer."""
