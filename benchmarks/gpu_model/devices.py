"""GPUs: published figures, and the model's assumptions about what no data sheet says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """A GPU with its bus. The figures are the makers' (data sheets and architecture white papers), without sparsity."""

    title: str
    arch: str             # for NVRTC
    multiprocessors: int
    registers: int        # of a multiprocessor, 32 bits each
    threads: int          # of a multiprocessor, at most
    shared: int           # bytes of shared memory of a multiprocessor
    bandwidth: float      # bytes a second of its memory
    bf16: float           # FLOP a second of the tensor cores in bfloat16, with sums in float32; 0: none
    f32: float            # FLOP a second in float32, without tensor cores
    bus: float            # bytes a second of the PCIe bus, in one direction, as measured for large page-locked copies
    engines: int          # copies at once in one direction

    @property
    def precision(self) -> str:
        """Of the products that the trainer takes there."""
        return "bfloat16" if self.bf16 else "float32"


DEVICES = {
    # CUDA's sm_75 has no bfloat16: the trainer takes float32 there. The 2080's white paper: 46 multiprocessors, 448 GB/s.
    "rtx2080": Device("RTX 2080", "sm_75", 46, 65536, 1024, 64 << 10, 448e9, 0, 10.1e12, 12e9, 1),
    "rtx4090": Device("RTX 4090", "sm_89", 128, 65536, 1536, 100 << 10, 1008e9, 165e12, 82.6e12, 24e9, 1),
    "rtx5090": Device("RTX 5090", "sm_120", 170, 65536, 1536, 100 << 10, 1792e9, 209e12, 104.8e12, 50e9, 1),
    "h100": Device("H100 SXM", "sm_90", 132, 65536, 2048, 228 << 10, 3350e9, 989e12, 66.9e12, 50e9, 2),
    "h200": Device("H200 SXM", "sm_90", 132, 65536, 2048, 228 << 10, 4800e9, 989e12, 66.9e12, 50e9, 2),
}


@dataclass(frozen=True)
class Costs:
    """Latencies in seconds and efficiencies, assumed for all devices.

    The orders of magnitude are those of published measurements: a kernel of an empty stream takes 2 to 3 us from launch to end,
    a node of a graph 1 to 1.5 us, an operation of torch 5 us of the host.

    A step of a sequence's kernel, besides its product, is estimated from its code for 128 units: 1,300 clocks for the functions
    of 2,048 units (10 of 16 a clock each), or 2,000 for the reads of the gates' gradients from shared memory, half of it beside
    the product; loads, stores and a barrier take the rest.
    """

    node: float = 1.4e-6        # of a kernel in a graph, besides its work
    kernel: float = 2.5e-6      # of a kernel outside of graphs
    copy: float = 2.0e-6        # of a copy, besides its bytes
    graph: float = 4.1e-6       # host: the launch of a graph, as measured on an H100's host
    operation: float = 5e-6     # host: an operation of torch outside of graphs
    sync: float = 4e-6          # host: a wait that has nothing to wait for
    turn: float = 0.4e-6        # host: what lies between two launches of a batch's steps without Python, as measured on a CPU
    python: float = 3.9e-6      # host: the same with Python: games on the device, self-play, Gymnasium's environments
    memory: float = 0.8         # reached part of the memory's bandwidth
    products: float = 0.5       # reached part of the products' rate
    product: float = 2.5e-6     # the least time of a product: the way through one tile
    step: float = 1.2e-6        # of a block's time step in a kernel for whole sequences, besides its product
