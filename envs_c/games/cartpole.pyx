"""CartPole (Barto, Sutton and Anderson, 1983), with the equations and constants of Gymnasium's CartPole-v1.

Screen. 168x126 pixels, 35 to a metre. A pole stands on a cart, and the cart runs on a track.

Actions. LEFT and RIGHT push the cart with 10 N for 0.02 s. There is no action without a push. One step of Euler's method
moves cart and pole: positions change by the velocities before the step.

Points. Every step gives a reward of 1, also the last one.

End. The episode is terminated when the cart's middle is more than 2.4 m from the middle of the track or the pole leans by
more than 12 degrees. It is truncated after 500 steps; this is the engine's time limit, which can be changed.

Start. Position, velocity, angle and angular velocity are random, each between -0.05 and 0.05.

Arithmetic. The state is float64. Sine and cosine are our own series, exact to rounding for the angles that occur. So
results have the same bits on every machine; those of a C library or of NumPy differ between versions and CPUs.
"""

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_double
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap
from envs_c.valid cimport finite_between

from envs_c.game import Feature


cdef enum:
    LEFT, RIGHT
    WIDTH = 168           # of the screen, in pixels
    HEIGHT = 126
    TRACK_Y = 100
    CART_WIDTH = 24
    CART_HEIGHT = 12
    CART_Y = TRACK_Y - CART_HEIGHT // 2
    POLE_WIDTH = 3
    SKY = 0xFFFFFF
    TRACK = 0x202020
    CART = 0x404040
    POLE = 0xCA9865

cdef extern from *:
    """
    static const double GRAVITY = 9.8;         // m/s^2
    static const double POLE_MASS = 0.1;       // kg
    static const double TOTAL_MASS = 1.1;      // kg, pole and cart
    static const double HALF_LENGTH = 0.5;     // m, half of the pole
    static const double POLE_MOMENT = 0.05;    // kg m, POLE_MASS * HALF_LENGTH
    static const double FORCE = 10.0;          // N
    static const double TAU = 0.02;            // s a step
    static const double X_LIMIT = 2.4;         // m
    static const double THETA_LIMIT = 12 * 2 * 3.141592653589793 / 360;
    static const double PIXELS = 168 / 4.8;    // in a metre
    """
    const double GRAVITY, POLE_MASS, TOTAL_MASS, HALF_LENGTH, POLE_MOMENT, FORCE, TAU, X_LIMIT, THETA_LIMIT, PIXELS


ctypedef struct CartPole:
    double x          # m
    double x_dot      # m/s
    double theta      # rad, 0 upright, positive to the right
    double theta_dot  # rad/s


cdef inline double sine(double a) noexcept nogil:
    """Taylor's series up to a^11. Its error at 0.3 rad is below 1e-16."""
    cdef double b = a * a
    return a * (1 + b * (-1 / 6.0 + b * (1 / 120.0 + b * (-1 / 5040.0 + b * (1 / 362880.0 - b * (1 / 39916800.0))))))


cdef inline double cosine(double a) noexcept nogil:
    """Taylor's series up to a^12."""
    cdef double b = a * a
    cdef double tail = -1 / 3628800.0 + b * (1 / 479001600.0)
    return 1 + b * (-0.5 + b * (1 / 24.0 + b * (-1 / 720.0 + b * (1 / 40320.0 + b * tail))))


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef CartPole* pole = <CartPole*>state
    pole.x = 0.1 * rng_double(rng) - 0.05
    pole.x_dot = 0.1 * rng_double(rng) - 0.05
    pole.theta = 0.1 * rng_double(rng) - 0.05
    pole.theta_dot = 0.1 * rng_double(rng) - 0.05


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef CartPole* pole = <CartPole*>state
    cdef double force = FORCE if action == RIGHT else -FORCE
    cdef double sin_theta = sine(pole.theta), cos_theta = cosine(pole.theta)
    cdef double push = (force + POLE_MOMENT * (pole.theta_dot * pole.theta_dot) * sin_theta) / TOTAL_MASS
    cdef double turn = (GRAVITY * sin_theta - cos_theta * push) / (
        HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cos_theta * cos_theta) / TOTAL_MASS))
    cdef double acceleration = push - POLE_MOMENT * turn * cos_theta / TOTAL_MASS
    pole.x += TAU * pole.x_dot
    pole.x_dot += TAU * acceleration
    pole.theta += TAU * pole.theta_dot
    pole.theta_dot += TAU * turn
    over[0] = pole.x < -X_LIMIT or pole.x > X_LIMIT or pole.theta < -THETA_LIMIT or pole.theta > THETA_LIMIT
    return 1.0


cdef void observe(const void* state, void* out) noexcept nogil:
    cdef const CartPole* pole = <const CartPole*>state
    cdef float* features = <float*>out
    features[0] = <float>pole.x
    features[1] = <float>pole.x_dot
    features[2] = <float>pole.theta
    features[3] = <float>pole.theta_dot


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 0, WIDTH, HEIGHT, SKY)
    canvas_rect(canvas, 0, TRACK_Y, WIDTH, 1, TRACK)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const CartPole* pole = <const CartPole*>state
    cdef int x = <int>(WIDTH / 2 + PIXELS * pole.x + 0.5)
    cdef double cos_theta = cosine(pole.theta)
    cdef double lean = sine(pole.theta) / cos_theta  # pixels to the right for each pixel up
    cdef int height = <int>(PIXELS * 2 * HALF_LENGTH * cos_theta + 0.5)
    cdef int row, left, start = 0, start_left = x - 1
    canvas_rect(canvas, x - CART_WIDTH // 2, CART_Y, CART_WIDTH, CART_HEIGHT, CART)
    for row in range(1, height + 1):
        left = <int>(x + lean * row) - 1
        if left != start_left or row == height:
            canvas_swap(canvas, start_left, CART_Y - row, POLE_WIDTH, row - start, SKY, POLE)
            start, start_left = row, left


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """Forces and angles are bounded, and so are the velocities on a track of this length: about 10 m/s and 4 rad/s."""
    cdef const CartPole* pole = <const CartPole*>state
    cdef int wide = 2 if over else 1  # the last move leads beyond the limits
    return (finite_between(pole.x, -X_LIMIT * wide, X_LIMIT * wide) and finite_between(pole.x_dot, -20, 20)
            and finite_between(pole.theta, -THETA_LIMIT * wide, THETA_LIMIT * wide) and finite_between(pole.theta_dot, -10, 10))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(CartPole), states, io, lo, hi)


GAME = Game(
    name="cartpole", title="CartPole", version=1, summary="Balance a pole on a cart by pushing left and right.",
    actions=("LEFT", "RIGHT"), feature_shape=(4,), screen=(WIDTH, HEIGHT), time_limit=500,
    feature_low=(-4.8, -float("inf"), -2 * THETA_LIMIT, -float("inf")),
    feature_high=(4.8, float("inf"), 2 * THETA_LIMIT, float("inf")), fps=50,
    features=(
        Feature("cart position", -4.8, 4.8, help="m from the middle of the track, positive to the right; ends beyond 2.4"),
        Feature("cart velocity", -float("inf"), float("inf"), help="m/s"),
        Feature("pole angle", -2 * THETA_LIMIT, 2 * THETA_LIMIT, help="rad, 0 upright, positive to the right; ends beyond "
                "0.2094 (12 degrees)"),
        Feature("pole angular velocity", -float("inf"), float("inf"), help="rad/s"),
    ),
    compared_with="Gymnasium's CartPole-v1, step by step: observation, reward and end.",
).bind(chunk, backdrop, draw, sizeof(CartPole), has_mask=False, valid=valid)
