// QR of a large Hessenberg matrix: chains of small bulges with many shifts, and aggressive early deflation (Braman, Byers, Mathias, The
// Multishift QR Algorithm, parts I and II, 2002). What differs between real and complex matrices is Kind's.
#pragma once
#include "window.h"

enum { CHAIN = 10, CHASE = 64 }; // bulges in a window at most, and the rows of such a window

// Schur is the work: h with zeros below its first subdiagonal, z or 0.
template <class T, class Kind> struct Schur {
    typedef typename Real<T>::type R;
    T *h, *z;
    int n;
    R norm;
    Window<T> win;
    Kind kind;

    INLINE T &at(int i, int j) { return h[(s64)j * n + i]; }

    INLINE bool small(int l) { // the element left of the diagonal in row l
        R eps = 2 * epsilon(R(0)), s = size1(at(l - 1, l - 1)) + size1(at(l, l)), below = size1(at(l, l - 1));
        return below <= eps * (s == 0 ? norm : s) || below <= eps * eps * norm;
    }

    INLINE void close(int top, int bottom) {
        bool all = z != 0;
        win.close(h, n, all ? 0 : top, all ? n : bottom + 1, z, n);
    }

    // chain chases pairs of shifts through rows top … bottom, three rows apart, in windows.
    INLINE void chain(int top, int bottom, int pair, int pairs) {
        int distance = CHASE - 5 - 3 * (pairs - 1);
        int last = bottom - top + 3 * (pairs - 1);
        for (int t0 = 0; t0 < last; t0 += distance) {
            int t1 = t0 + distance < last ? t0 + distance : last;
            int low = top - 1 + t0 - 3 * (pairs - 1), high = top - 1 + t1 - 1;
            low = low < top ? top : low;
            high = high + 4 > bottom ? bottom : high + 4;
            win.open(h, n, low, high - low + 1);
            for (int t = t0; t < t1; t++)
                for (int m = 0; m < pairs; m++) {
                    int k = top - 1 + t - 3 * m;
                    if (k < top - 1)
                        break;
                    if (k > bottom - 2)
                        continue;
                    bool three = k + 3 <= bottom;
                    int x = k - low;
                    Mirror3<T> r;
                    if (k == top - 1)
                        r = kind.first(win, pair + m);
                    else
                        r = mirror3(win.at(x + 1, x), win.at(x + 2, x), three ? win.at(x + 3, x) : T{});
                    SYNC;
                    if (k >= top) {
                        win.at(x + 1, x) = r.beta;
                        win.at(x + 2, x) = T{};
                        if (three)
                            win.at(x + 3, x) = T{};
                    }
                    int below = x + 5 < win.n ? x + 5 : win.n;
                    win.turn(x + 1, x + 1, below, r, three);
                }
            close(top, bottom);
        }
    }

    // early looks for values that the last rows of top … bottom have already, and leaves the others as shifts: how many rows went.
    INLINE int early(int top, int bottom, int rows, int &values) {
        int first = bottom - rows + 1;
        R eps = 2 * epsilon(R(0)), tiny = least(R(0)) / eps * (R)n;
        T spike = at(first, first - 1);
        win.open(h, n, first, rows);
        if (kind.small(win)) {
            values = 0;
            return 0;
        }
        int left = rows, moved = 0;
        while (moved < left) {
            int two = kind.two(win, left - 1);
            R size = kind.diagonal(win, left - 1, two), s = size1(mul(spike, win.u[(left - 1) * WLD]));
            if (two) {
                R s2 = size1(mul(spike, win.u[(left - 2) * WLD]));
                s = s2 > s ? s2 : s;
            }
            if (size == 0)
                size = size1(spike);
            if (s <= tiny || s <= eps * size) {
                left -= 1 + two;
                continue;
            }
            if (!kind.up(win, left - 1 - two, moved, two))
                break;
            moved += 1 + two;
        }
        values = left;
        kind.take(win, left);
        if (left == rows)
            return 0;
        SYNC;
        if (left == 0)
            at(first, first - 1) = T{};
        else {
            if (left > 1)
                back(left);
            at(first, first - 1) = mul(spike, conj(win.u[0]));
        }
        SYNC;
        close(top, bottom);
        return rows - left;
    }

    // back makes the first rows of the window a Hessenberg matrix again, whose first column is the spike's.
    INLINE void back(int m) {
        T *v = win.tile;
        for (int k = -1; k + 2 < m; k++) {
            int len = m - 1 - k;
            for (int i = LANE; i < len; i += 32)
                v[i] = k < 0 ? conj(win.u[i * WLD]) : win.at(k + 1 + i, k);
            SYNC;
            T tau = mirror(v, (u32)len), beta = v[0];
            SYNC;
            if (zero(tau))
                continue;
            v[0] = one<T>();
            if (k >= 0)
                for (int i = LANE; i < len; i += 32)
                    win.at(k + 1 + i, k) = i ? T{} : beta;
            SYNC;
            reflect(v, (u32)len, conj(tau), win.w + (k + 1) * (WLD + 1), WLD, (u32)(win.n - k - 1));
            fromRightLong(win.w + (k + 1) * WLD, m, v, len, tau);
            fromRightLong(win.u + (k + 1) * WLD, win.n, v, len, tau);
            SYNC;
        }
    }

    INLINE void fromRightLong(T *p, int rows, const T *v, int len, T tau) {
        for (int i = LANE; i < rows; i += 32) {
            T s = T{};
            for (int j = 0; j < len; j++)
                s = fma(p[j * WLD + i], v[j], s);
            s = mul(s, tau);
            for (int j = 0; j < len; j++)
                p[j * WLD + i] = sub(p[j * WLD + i], mul(s, conj(v[j])));
        }
    }

    // run gives how many values did not converge: those of the first rows.
    INLINE int run() {
        int bottom = n - 1, idle = 0;
        while (bottom >= 0) {
            int top = bottom;
            while (top > 0 && !small(top))
                top--;
            if (top > 0) {
                SYNC;
                at(top, top - 1) = T{};
                SYNC;
            }
            int rows = bottom - top + 1;
            if (int done = kind.last(h, z, n, bottom, rows)) {
                bottom -= done;
                idle = 0;
                continue;
            }
            if (rows <= Kind::WHOLE) {
                win.open(h, n, top, rows);
                if (kind.small(win))
                    return bottom + 1;
                close(top, bottom);
                continue;
            }
            if (++idle > 60)
                return bottom + 1;
            int look = rows < 128 ? 24 : rows < 256 ? 40 : 60, values = 0, gone = early(top, bottom, look, values), end = bottom - gone;
            if (gone)
                idle = 0;
            if (gone * 100 > look * 14 || end - top + 1 <= Kind::WHOLE)
                continue;
            int have = idle % 6 == 5 ? 0 : kind.pair(values, rows < 128 ? 6 : rows < 256 ? 12 : 20);
            if (have == 0)
                have = kind.strange(h + (s64)end * (n + 1), n);
            for (int done = 0; done < have; done += CHAIN)
                chain(top, end, done, have - done < CHAIN ? have - done : CHAIN);
        }
        return 0;
    }
};
