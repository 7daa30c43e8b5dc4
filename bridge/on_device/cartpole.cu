/* CartPole with one thread per environment: the game (envs_c/games/cartpole.pyx), the engine's rules (game.pxd) and the random
 * numbers (rng.pxd). The operations and their order are the same, so the results have the same bits.
 *
 * float64 products and sums round alike on all machines, as long as none are contracted. Sine and cosine are series. The state
 * lies in arrays with the environments in the last dimension, since neighbouring threads should read neighbouring bytes:
 * poles (4, N), rng (2, N). See bridge/on_device/cartpole.py for the other arrays.
 */
#include <stdint.h>

#define ROW static __device__ __forceinline__

struct Pole {
    double x, x_dot, theta, theta_dot; /* m, m/s, rad, rad/s */
};

struct Rng {
    uint64_t state, stream;
};

ROW uint32_t rng_next(Rng &rng) {
    uint64_t old = rng.state;
    uint32_t bits = (uint32_t)(((old >> 18) ^ old) >> 27), turn = (uint32_t)(old >> 59);
    rng.state = old * 6364136223846793005ull + rng.stream;
    return (bits >> turn) | (bits << ((32 - turn) & 31));
}

ROW double rng_double(Rng &rng) {
    uint64_t high = rng_next(rng) >> 5, low = rng_next(rng) >> 6;
    return (double)((high << 26) | low) * (1.0 / 9007199254740992.0);
}

ROW float rng_float(Rng &rng) { return (float)(rng_next(rng) >> 8) * (1.0f / 16777216.0f); }

ROW double sine(double a) {
    double b = a * a;
    return a * (1 + b * (-1 / 6.0 + b * (1 / 120.0 + b * (-1 / 5040.0 + b * (1 / 362880.0 - b * (1 / 39916800.0))))));
}

ROW double cosine(double a) {
    double b = a * a, tail = -1 / 3628800.0 + b * (1 / 479001600.0);
    return 1 + b * (-0.5 + b * (1 / 24.0 + b * (-1 / 720.0 + b * (1 / 40320.0 + b * tail))));
}

ROW Pole new_pole(Rng &rng) {
    Pole pole;
    pole.x = 0.1 * rng_double(rng) - 0.05;
    pole.x_dot = 0.1 * rng_double(rng) - 0.05;
    pole.theta = 0.1 * rng_double(rng) - 0.05;
    pole.theta_dot = 0.1 * rng_double(rng) - 0.05;
    return pole;
}

/* Euler's step of 0.02 s under a force in N. The constants are those of cartpole.pyx. */
ROW Pole euler_step(Pole pole, double force) {
    double sin_theta = sine(pole.theta), cos_theta = cosine(pole.theta);
    double push = (force + 0.05 * (pole.theta_dot * pole.theta_dot) * sin_theta) / 1.1;
    double turn = (9.8 * sin_theta - cos_theta * push) / (0.5 * (4.0 / 3.0 - 0.1 * (cos_theta * cos_theta) / 1.1));
    double acceleration = push - 0.05 * turn * cos_theta / 1.1;
    pole.x += 0.02 * pole.x_dot;
    pole.x_dot += 0.02 * acceleration;
    pole.theta += 0.02 * pole.theta_dot;
    pole.theta_dot += 0.02 * turn;
    return pole;
}

ROW int outside(Pole pole) {
    const double limit = 12 * 2 * 3.141592653589793 / 360;
    return pole.x < -2.4 || pole.x > 2.4 || pole.theta < -limit || pole.theta > limit;
}

ROW void write_observation(Pole pole, float *observation) {
    observation[0] = (float)pole.x;
    observation[1] = (float)pole.x_dot;
    observation[2] = (float)pole.theta;
    observation[3] = (float)pole.theta_dot;
}

ROW Pole load(const double *poles, long long n, long long i) {
    Pole pole = {poles[i], poles[n + i], poles[2 * n + i], poles[3 * n + i]};
    return pole;
}

ROW void store(Pole pole, double *poles, long long n, long long i) {
    poles[i] = pole.x;
    poles[n + i] = pole.x_dot;
    poles[2 * n + i] = pole.theta;
    poles[3 * n + i] = pole.theta_dot;
}

/* Begins a new episode in environment i. */
ROW Pole begin_episode(double *poles, uint64_t *rng, int32_t *length, int32_t *last_action, uint8_t *over, long long n,
                       long long i) {
    Rng mine = {rng[i], rng[n + i]};
    Pole pole = new_pole(mine);
    store(pole, poles, n, i);
    rng[i] = mine.state;
    length[i] = 0;
    last_action[i] = 0;
    over[i] = 0;
    return pole;
}

extern "C" __global__ void __launch_bounds__(1024)
cartpole_reset(double *poles, uint64_t *rng, int32_t *length, int32_t *last_action, uint8_t *over, float *observation,
               float *reward, float *terminated, float *truncated, uint8_t *ended, long long n) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        write_observation(begin_episode(poles, rng, length, last_action, over, n, i), observation + 4 * i);
        reward[i] = terminated[i] = truncated[i] = 0.0f;
        ended[i] = 0;
    }
}

/* One step of each environment.
 *
 * work: how many times to do the arithmetic, for benchmarks. The result stays the same: an extra round only adds its values,
 *       times zero, to the angle. A compiler cannot remove this, since zero times infinity is NaN.
 * sticky: probability of repeating the last action.
 * given: the reward of a step.
 * totals: (2, N), number of ended episodes and sum of their steps.
 * recent_length: (recent, N), steps of an environment's ended episode k in row k modulo `recent`. */
extern "C" __global__ void __launch_bounds__(1024)
cartpole_step(double *poles, uint64_t *rng, int32_t *length, int32_t *last_action, uint8_t *over, const int32_t *actions,
              float *observation, float *reward, float *terminated, float *truncated, uint8_t *ended, float *ended_return,
              int32_t *ended_length, long long *totals, int32_t *recent_length, long long recent, long long n,
              long long time_limit, long long work, float sticky, float given) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        ended[i] = 0;
        if (over[i]) {
            write_observation(begin_episode(poles, rng, length, last_action, over, n, i), observation + 4 * i);
            reward[i] = terminated[i] = truncated[i] = 0.0f;
            continue;
        }
        int action = actions[i];
        if (sticky > 0.0f) {
            Rng mine = {rng[i], rng[n + i]};
            if (rng_float(mine) < sticky) action = last_action[i];
            rng[i] = mine.state;
            last_action[i] = action;
        }
        double force = action == 1 ? 10.0 : -10.0;
        Pole pole = load(poles, n, i);
        for (long long round = 1; round < work; round++) {
            Pole again = euler_step(pole, force);
            pole.theta += 0.0 * (again.x + again.x_dot + again.theta + again.theta_dot);
        }
        pole = euler_step(pole, force);
        store(pole, poles, n, i);
        write_observation(pole, observation + 4 * i);
        int steps = ++length[i], fell = outside(pole), late = time_limit > 0 && steps >= time_limit;
        reward[i] = given;
        terminated[i] = (float)fell;
        truncated[i] = (float)late;
        if (fell || late) {
            over[i] = ended[i] = 1;
            ended_return[i] = (float)steps;
            ended_length[i] = steps;
            recent_length[totals[i] % recent * n + i] = steps;
            totals[i] += 1;
            totals[n + i] += steps;
        }
    }
}
