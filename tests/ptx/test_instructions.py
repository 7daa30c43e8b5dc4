"""The emulator of PTX: integers, floats, conversions, branches and memory give the results that CUDA defines."""

import math

import numpy as np
import pytest

EDGES = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]


def wrapped(value: int, bits: int, signed: bool) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGERS = {  # CUDA expression of a and b: the result in Python
    "a + b": lambda a, b, n: a + b, "a - b": lambda a, b, n: a - b, "a * b": lambda a, b, n: a * b,
    "b ? a / b : 0": lambda a, b, n: toward_zero(a, b) if b else 0,
    "b ? a % b : 0": lambda a, b, n: a - toward_zero(a, b) * b if b else 0,
    "a & b": lambda a, b, n: a & b, "a | b": lambda a, b, n: a | b, "a ^ b": lambda a, b, n: a ^ b, "~a": lambda a, b, n: ~a,
    "a << (b & (8 * sizeof(T) - 1))": lambda a, b, n: a << (b & (n - 1)),
    "a >> (b & (8 * sizeof(T) - 1))": lambda a, b, n: a >> (b & (n - 1)),
    "a < b ? a : b": lambda a, b, n: min(a, b), "a > b ? a : b": lambda a, b, n: max(a, b),
    "-a": lambda a, b, n: -a, "a <= b": lambda a, b, n: a <= b, "a == b": lambda a, b, n: a == b,
    "a != b": lambda a, b, n: a != b,
    "(T)(int)a": lambda a, b, n: wrapped(a, 32, True), "(T)(unsigned char)a": lambda a, b, n: a & 255,
    "(T)(short)a": lambda a, b, n: wrapped(a, 16, True),
}


@pytest.mark.parametrize(("kind", "dtype"), [("int", np.int32), ("unsigned", np.uint32), ("long long", np.int64),
                                             ("unsigned long long", np.uint64)])
def test_integers_wrap_around_as_in_c(kind, dtype, launch):
    bits, signed = 8 * np.dtype(dtype).itemsize, dtype in (np.int32, np.int64)
    pairs = np.array([(a, b) for a in EDGES for b in EDGES], np.uint64).astype(dtype)
    smallest = wrapped(1 << (bits - 1), bits, signed)
    pairs = pairs[~((pairs[:, 0] == smallest) & (pairs[:, 1] == dtype(-1)))] if signed else pairs  # undefined quotients
    a, b = np.ascontiguousarray(pairs.T)
    out = np.zeros((len(INTEGERS), len(a)), dtype)
    lines = "".join(f"out[{k} * n + i] = (T)({text});" for k, text in enumerate(INTEGERS))
    launch(f"""typedef {kind} T; extern "C" __global__ void k(const T *x, const T *y, T *out, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; T a = x[i], b = y[i]; {lines} }}""",
           a.copy(), b.copy(), out, np.int32(len(a)), grid=(-(-len(a) // 32),))
    for (text, function), row in zip(INTEGERS.items(), out, strict=True):
        wanted = [wrapped(function(x, y, bits), bits, signed) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        assert row.tolist() == wanted, text


@pytest.mark.parametrize(("function", "dtype", "wanted"), [
    ("__umulhi", np.uint32, lambda a, b: a * b >> 32), ("__mulhi", np.int32, lambda a, b: a * b >> 32),
    ("__umul64hi", np.uint64, lambda a, b: a * b >> 64), ("__mul64hi", np.int64, lambda a, b: a * b >> 64)])
def test_the_upper_half_of_a_product_is_exact(function, dtype, wanted, launch):
    kind = {np.uint32: "unsigned", np.int32: "int", np.uint64: "unsigned long long", np.int64: "long long"}[dtype]
    random = np.random.default_rng(0)
    info = np.iinfo(dtype)
    a, b = random.integers(info.min, info.max, (2, 64), dtype, endpoint=True)
    a, b, out = a.copy(), b.copy(), np.zeros(64, dtype)
    launch(f'extern "C" __global__ void k(const {kind} *a, const {kind} *b, {kind} *out) '
           f'{{ int i = threadIdx.x; out[i] = {function}(a[i], b[i]); }}', a, b, out, block=(64,))
    assert out.tolist() == [wanted(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]


@pytest.mark.parametrize(("digits", "wanted"), [
    (0x3210, 0x44332281), (0x7654, 0x88776695), (0x0123, 0x81223344), (0x4180, 0x9522FF81), (0x8C8F, 0xFFFFFFFF),
    (0x9A0B, 0x00008100)])
def test_bytes_are_permuted_by_digits_of_which_those_above_7_give_the_sign(digits, wanted, launch):
    out = np.array([0x44332281, 0x88776695, digits, 0], np.uint32)
    launch("""extern "C" __global__ void k(unsigned *x) {
        asm("prmt.b32 %0, %1, %2, %3;" : "=r"(x[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2])); }""", out, block=(1,))
    assert out[3] == wanted


def exact_sum(a: float, b: float, c: float) -> np.float32:
    """a * b + c rounded once, by exact fractions."""
    from fractions import Fraction
    value = Fraction(a) * Fraction(b) + Fraction(c)
    near = np.float32(float(value))
    around = [np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))]
    return min(around, key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(np.uint32)) & 1))


def test_a_fused_multiply_add_is_rounded_once(launch):
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((2, 4096)) * 10.0 ** random.integers(-6, 6, (2, 4096))).astype(np.float32)
    c = np.float32(-(a * b)) * np.float32(1 + 2.0**-20)
    # sums that lie in float64 exactly between two float32: rounding twice would go to the even one
    a[:3], b[:3], c[:3] = 1 + 2.0**-12, 1 + 2.0**-12, [2.0**-60, -(2.0**-60), 2.0**-53]
    a, b, out = a.copy(), b.copy(), np.zeros(4096, np.float32)
    launch('extern "C" __global__ void k(const float *a, const float *b, const float *c, float *out) '
           '{ int i = blockIdx.x * 64 + threadIdx.x; out[i] = fmaf(a[i], b[i], c[i]); }', a, b, c, out, grid=(64,), block=(64,))
    assert out.tolist() == [exact_sum(*numbers) for numbers in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]


APPROXIMATIONS = {  # instruction: (function in float64, error that NVIDIA documents for x)
    "ex2.approx.f32": (np.exp2, lambda x, y: 2.0**-22 * y), "rcp.approx.f32": (np.reciprocal, lambda x, y: 2.0**-23 * y),
    "lg2.approx.f32": (np.log2, lambda x, y: np.where((x > 0.5) & (x < 2), 2.0**-22, 2.0**-22 * np.abs(y))),
    "sqrt.approx.f32": (np.sqrt, lambda x, y: 2.0**-23 * y),
    "rsqrt.approx.f32": (lambda x: x**-0.5, lambda x, y: 2.0**-22.9 * y),
    "tanh.approx.f32": (np.tanh, lambda x, y: 2.0**-11 * y), "sqrt.rn.f32": (np.sqrt, lambda x, y: 2.0**-24 * y),
    "rcp.rn.f32": (np.reciprocal, lambda x, y: 2.0**-24 * y),
}


@pytest.mark.parametrize("name", APPROXIMATIONS)
def test_fast_functions_err_within_what_nvidia_documents_and_use_it(name, launch):
    function, error = APPROXIMATIONS[name]
    x = np.exp(np.random.default_rng(2).uniform(-4, 4, 4096)).astype(np.float32)
    out = np.zeros_like(x)
    launch(f'extern "C" __global__ void k(const float *x, float *out) {{ int i = blockIdx.x * 64 + threadIdx.x; '
           f'float y; asm("{name} %0, %1;" : "=f"(y) : "f"(x[i])); out[i] = y; }}', x, out, grid=(64,), block=(64,))
    exact = function(x.astype(np.float64))
    bound = error(x, exact)
    off = np.abs(out - exact) / np.maximum(bound, 2.0**-24 * np.abs(exact))  # rounding itself can be half an ulp
    assert 0.3 < off.max() <= 1


@pytest.mark.parametrize(("name", "inputs", "wanted"), [
    ("ex2.approx.f32", [-np.inf, np.inf, 0, -200, 200], [0, np.inf, 1, 0, np.inf]),
    ("lg2.approx.f32", [0, np.inf, 1, -1], [-np.inf, np.inf, pytest.approx(0, abs=2.0**-22), np.nan]),
    ("rcp.approx.f32", [0.0, -0.0, np.inf, np.nan], [np.inf, -np.inf, 0, np.nan]),
    ("ex2.approx.ftz.f32", [1e-40, -127.5], [1, 0]), ("rcp.approx.ftz.f32", [1e-40, 2.0**127], [np.inf, 0]),
    ("tanh.approx.f32", [np.inf, -np.inf, 0, np.nan], [1, -1, 0, np.nan]),
    ("rsqrt.approx.f32", [0.0, np.inf, -1], [np.inf, 0, np.nan]), ("abs.ftz.f32", [-1e-40, -3], [0, 3]),
    ("neg.f32", [0.0, 5], [-0.0, -5])])
def test_functions_of_zeros_infinities_and_tiny_numbers(name, inputs, wanted, launch):
    x, out = np.array(inputs, np.float32), np.zeros(len(inputs), np.float32)
    launch(f'extern "C" __global__ void k(const float *x, float *out) {{ int i = threadIdx.x; '
           f'float y; asm("{name} %0, %1;" : "=f"(y) : "f"(x[i])); out[i] = y; }}', x, out, block=(len(x),))
    for ours, theirs in zip(out.tolist(), wanted, strict=True):
        assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))


CONVERSIONS = [  # PTX, constraints of result and operand, the C types, inputs, results
    ("cvt.rzi.s32.f32", "int", "float", [1.9, -1.9, 3e9, -3e9, np.nan], [1, -1, 2**31 - 1, -2**31, 0]),
    ("cvt.rni.s32.f32", "int", "float", [1.5, 2.5, -0.5], [2, 2, 0]),
    ("cvt.rzi.u32.f32", "unsigned", "float", [-5.0, 7.7, 5e9], [0, 7, 2**32 - 1]),
    ("cvt.rn.f32.u32", "float", "unsigned", [2**24 + 1, 2**32 - 1], [2.0**24, 2.0**32]),
    ("cvt.rn.f32.s32", "float", "int", [-7, 2**24 + 3], [-7, 2.0**24 + 4]),
    ("cvt.rn.f32.f64", "float", "double", [1 + 2.0**-24, 1e300], [1, np.inf]),
    ("cvt.rn.f64.u64", "double", "unsigned long long", [2**64 - 1, 2**53 + 1], [2.0**64, 2.0**53]),
    ("cvt.f64.f32", "double", "float", [0.1], [float(np.float32(0.1))]),
    ("cvt.u32.u64", "unsigned", "unsigned long long", [2**40 + 5], [5]),
    ("cvt.s64.s32", "long long", "int", [-5], [-5]),
    ("cvt.u64.u32", "unsigned long long", "unsigned", [2**32 - 1], [2**32 - 1]),
]
NUMPY = {"int": np.int32, "unsigned": np.uint32, "float": np.float32, "double": np.float64, "long long": np.int64,
         "unsigned long long": np.uint64}
LETTER = {"int": "r", "unsigned": "r", "float": "f", "double": "d", "long long": "l", "unsigned long long": "l"}


@pytest.mark.parametrize(("name", "to", "of", "inputs", "wanted"), CONVERSIONS, ids=[row[0] for row in CONVERSIONS])
def test_conversions_round_and_saturate(name, to, of, inputs, wanted, launch):
    x, out = np.array(inputs, NUMPY[of]), np.zeros(len(inputs), NUMPY[to])
    launch(f'extern "C" __global__ void k(const {of} *x, {to} *out) {{ int i = threadIdx.x; '
           f'asm("{name} %0, %1;" : "={LETTER[to]}"(out[i]) : "{LETTER[of]}"(x[i])); }}', x, out, block=(len(x),))
    assert out.tolist() == wanted


def test_two_floats_become_two_bfloat16(launch):
    import torch
    x = torch.randn(64, dtype=torch.float32)
    x[:4] = torch.tensor([1 + 2.0**-8, 1 + 3 * 2.0**-8, float("inf"), 1e-40])
    out = np.zeros(32, np.uint32)
    launch('extern "C" __global__ void k(const float *x, unsigned *out) { int i = threadIdx.x; '
           'asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i])); }', x.numpy(), out)
    assert out.view(np.uint16).tolist() == x.bfloat16().view(torch.uint16).tolist()


COLLATZ = """extern "C" __global__ void k(const long long *start, int *steps, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        long long x = start[i]; int count = 0;
        while (x != 1) { if (x & 1) { x = 3 * x + 1; if (x > 1000) count += 0; } else x /= 2; count++; }
        steps[i] = count;
    }
}"""


@pytest.mark.parametrize(("grid", "block"), [((1,), (1,)), ((3,), (7,)), ((4,), (64,))])
def test_threads_that_part_meet_again(grid, block, launch):
    start = np.arange(1, 200, dtype=np.int64)
    steps = np.zeros(len(start), np.int32)
    launch(COLLATZ, start, steps, np.int32(len(start)), grid=grid, block=block)

    def count(x):
        return 0 if x == 1 else 1 + count(3 * x + 1 if x & 1 else x // 2)
    assert steps.tolist() == [count(x) for x in start.tolist()]


def test_guarded_instructions_of_inline_assembly_change_only_their_threads(launch):
    out = np.zeros(32, np.int32)
    launch("""extern "C" __global__ void k(int *out) {
        int t = threadIdx.x, y = 5;
        asm("{ .reg .pred p; setp.gt.s32 p, %1, 20; @p mov.b32 %0, 7; }" : "+r"(y) : "r"(t));
        asm("{ .reg .pred p; .reg .b32 twice; setp.lt.s32 p, %1, 9; add.s32 twice, %1, %1; @!p add.s32 %0, %0, twice; }"
            : "+r"(y) : "r"(t)); out[t] = y; }""", out)
    assert out.tolist() == [(7 if t > 20 else 5) + (0 if t < 9 else 2 * t) for t in range(32)]


def test_a_generic_address_can_lie_in_any_space(launch):
    x, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    launch("""extern "C" __global__ void k(const int *x, int *out) {
        __shared__ int tile[32]; int mine[4], t = threadIdx.x;
        tile[t] = 100 + t; for (int i = 0; i < 4; i++) mine[(t + i) & 3] = 200 + t;
        __syncthreads();
        volatile const int *from = t % 3 == 0 ? x + t : t % 3 == 1 ? tile + t : mine + (t & 3); out[t] = *from; }""", x, out)
    assert out.tolist() == [t % 3 * 100 + t for t in range(32)]


def test_three_dimensions_of_blocks_and_threads(launch):
    out = np.zeros(2 * 3 * 2 * 4 * 2 * 3, np.int32)
    launch("""extern "C" __global__ void k(int *out) {
        int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        out[block * blockDim.x * blockDim.y * blockDim.z + thread] = 100 * block + thread; }""",
           out, grid=(2, 3, 2), block=(4, 2, 3))
    assert out.tolist() == [100 * block + thread for block in range(12) for thread in range(24)]


def test_arrays_in_local_memory_belong_to_their_thread(launch):
    out = np.zeros(32, np.int32)
    launch("""extern "C" __global__ void k(int *out, int n) {
        int mine[16]; for (int i = 0; i < 16; i++) mine[i] = n * i + threadIdx.x;
        mine[(n + threadIdx.x) & 15] = -1; out[threadIdx.x] = mine[(threadIdx.x + 5) & 15] + mine[3]; }""", out, np.int32(3))
    for t, value in enumerate(out.tolist()):
        mine = [3 * i + t for i in range(16)]
        mine[(3 + t) & 15] = -1
        assert value == mine[(t + 5) & 15] + mine[3]


def test_vectors_of_four_are_loaded_and_stored(launch):
    x, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    launch("""extern "C" __global__ void k(const float4 *x, float4 *out) {
        float4 v = x[threadIdx.x]; out[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x); }""", x, out)
    assert np.array_equal(out.reshape(-1, 4), x.reshape(-1, 4)[:, ::-1])


def test_an_unknown_instruction_is_named_with_its_line(launch):
    from ptx import UnknownInstruction
    with pytest.raises(UnknownInstruction, match=r"line \d+: brev\.b32 .* \(from kernel\.cu:2\)"):
        launch('extern "C" __global__ void k(unsigned *x) {\n x[0] = __brev(x[0]); }', np.zeros(1, np.uint32))


@pytest.mark.parametrize(("args", "text"), [
    ((np.uint64(0),), "takes 2 arguments, not 1"), ((np.uint64(0), np.int32(5)), "argument 1 is a int32, .* a f32 of 4 bytes"),
    ((np.int32(0), np.float32(5)), "argument 0 is a int32, .* a u64 of 8 bytes")])
def test_arguments_of_another_number_size_or_type_are_refused(args, text, launch):
    from ptx import Fault
    with pytest.raises(Fault, match=text):
        launch('extern "C" __global__ void k(float *x, float y) { x[0] = y; }', *args)
