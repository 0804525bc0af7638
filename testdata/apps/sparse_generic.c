// Records the generic interface of cuSPARSE: every format, operation, index type, base and combination of types, on small matrices.
#include "sparse_record.h"

static void *buffer(size_t n) { return dev(n < 16 ? 16 : n); }

static const int triples[][4] = {// A, x, y, compute
    {F32, F32, F32, F32}, {F64, F64, F64, F64}, {C32, C32, C32, C32}, {C64, C64, C64, C64}, {F16, F16, F16, F32}, {BF16, BF16, BF16, F32},
    {F16, F16, F32, F32}, {BF16, BF16, F32, F32}, {S8, S8, S32, S32}, {S8, S8, F32, F32}, {F32, F64, F64, F64}, {F32, C32, C32, C32},
    {F64, C64, C64, C64}, {F32, F32, F64, F64}, {F64, F32, F32, F32}, {F32, F32, F32, F64}, {F16, F32, F32, F32}, {S32, S32, S32, S32}};
#define TRIPLES (int)(sizeof triples / sizeof *triples)

static void spmv(int format, int op, const int *t, int wide, int base, int alg, double beta) {
    struct M a = pattern(7, 6, 3, 3);
    int m = op ? a.n : a.m, n = op ? a.m : a.n;
    begin("spmv %s op %d i%d b%d %s %s %s %s alg %d beta %g", formats[format], op, wide ? 64 : 32, base, kinds[t[0]].name, kinds[t[1]].name, kinds[t[2]].name,
          kinds[t[3]].name, alg, beta);
    struct D d = format == SELL ? lay_sell(&a, t[0], wide, base) : lay(&a, format, t[0], wide, base);
    cusparseSpMatDescr_t s = sparse(&a, &d, format);
    void *y = numbers(t[2], m, 22);
    cusparseDnVecDescr_t vx, vy;
    cusparseCreateDnVec(&vx, n, numbers(t[1], n, 21), kinds[t[1]].type);
    cusparseCreateDnVec(&vy, m, y, kinds[t[2]].type);
    const void *al = scalar(t[3], 2, 1), *be = scalar(t[3], beta, 0);
    size_t size = 0;
    cusparseOperation_t o = (cusparseOperation_t)op;
    if (st(cusparseSpMV_bufferSize(H, o, al, s, vx, be, vy, kinds[t[3]].type, (cusparseSpMVAlg_t)alg, &size))) {
        void *b = buffer(size);
        st(cusparseSpMV(H, o, al, s, vx, be, vy, kinds[t[3]].type, (cusparseSpMVAlg_t)alg, b));
        results();
        show(y, t[2], m);
    }
    cusparseDestroySpMat(s), cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy);
    end();
}

static void spmv_bsr(int op, const int *t, int wide, int base, int by_column) {
    struct M a = pattern(4, 3, 3, 2);
    int bd = 2, m = (op ? a.n : a.m) * bd, n = (op ? a.m : a.n) * bd;
    begin("spmv bsr op %d i%d b%d %s %s %s %s order %d", op, wide ? 64 : 32, base, kinds[t[0]].name, kinds[t[1]].name, kinds[t[2]].name, kinds[t[3]].name, by_column);
    struct D d = lay_blocks(&a, bd, bd, by_column, t[0], wide, base);
    cusparseSpMatDescr_t s = 0;
    st(cusparseCreateBsr(&s, a.m, a.n, d.nnz, bd, bd, d.off, d.ind, d.val, itype(wide), itype(wide), ibase(base), kinds[t[0]].type, by_column ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW));
    void *y = numbers(t[2], m, 22);
    cusparseDnVecDescr_t vx, vy;
    cusparseCreateDnVec(&vx, n, numbers(t[1], n, 21), kinds[t[1]].type);
    cusparseCreateDnVec(&vy, m, y, kinds[t[2]].type);
    const void *al = scalar(t[3], 2, 1), *be = scalar(t[3], 3, 0);
    size_t size = 0;
    if (st(cusparseSpMV_bufferSize(H, (cusparseOperation_t)op, al, s, vx, be, vy, kinds[t[3]].type, CUSPARSE_SPMV_ALG_DEFAULT, &size))) {
        void *b = buffer(size);
        st(cusparseSpMV(H, (cusparseOperation_t)op, al, s, vx, be, vy, kinds[t[3]].type, CUSPARSE_SPMV_ALG_DEFAULT, b));
        results();
        show(y, t[2], m);
    }
    cusparseDestroySpMat(s), cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy);
    end();
}

struct mm {
    int format, op, opb, order_b, order_c, wide, base, alg, batch;
    const int *t;
};

static void spmm(struct mm q) {
    const int *t = q.t;
    int bd = q.format == BSR || q.format == BELL ? 2 : 1;
    struct M a = bd > 1 ? pattern(4, 3, 3, 2) : pattern(7, 6, 3, 3);
    int m = (q.op ? a.n : a.m) * bd, k = (q.op ? a.m : a.n) * bd, n = 3;
    begin("spmm %s op %d %d order %d %d i%d b%d %s %s %s %s alg %d batch %d", formats[q.format], q.op, q.opb, q.order_b, q.order_c, q.wide ? 64 : 32, q.base,
          kinds[t[0]].name, kinds[t[1]].name, kinds[t[2]].name, kinds[t[3]].name, q.alg, q.batch);
    cusparseSpMatDescr_t s = 0;
    struct D d;
    if (q.format == BSR) {
        d = lay_blocks(&a, bd, bd, 0, t[0], q.wide, q.base);
        st(cusparseCreateBsr(&s, a.m, a.n, d.nnz, bd, bd, d.off, d.ind, d.val, itype(q.wide), itype(q.wide), ibase(q.base), kinds[t[0]].type, CUSPARSE_ORDER_ROW));
    } else if (q.format == BELL) {
        long col[] = {0, 2, 1, -1, 2, -1, 0, 1};
        a = pattern(4, 3, 3, 1);
        m = 8, k = 6;
        st(cusparseCreateBlockedEll(&s, 8, 6, 2, 4, indices(col, 8, q.wide, q.base), numbers(t[0], 32, 41), itype(q.wide), ibase(q.base), kinds[t[0]].type));
    } else {
        d = lay(&a, q.format, t[0], q.wide, q.base);
        s = sparse(&a, &d, q.format);
    }
    if (q.batch > 1 && q.format == CSR) st(cusparseCsrSetStridedBatch(s, q.batch, 0, 0));
    if (q.batch > 1 && q.format == COO) st(cusparseCooSetStridedBatch(s, q.batch, 0));
    int rows = q.opb ? n : k, cols = q.opb ? k : n;
    int ldb = (q.order_b ? cols : rows) + 1, ldc = (q.order_c ? n : m) + 1;
    long bs = (long)ldb * (q.order_b ? rows : cols), cs = (long)ldc * (q.order_c ? m : n);
    void *c = numbers(t[2], cs * q.batch, 22);
    cusparseDnMatDescr_t mb, mc;
    cusparseCreateDnMat(&mb, rows, cols, ldb, numbers(t[1], bs * q.batch, 21), kinds[t[1]].type, q.order_b ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    cusparseCreateDnMat(&mc, m, n, ldc, c, kinds[t[2]].type, q.order_c ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    if (q.batch > 1) st(cusparseDnMatSetStridedBatch(mb, q.batch, bs)), st(cusparseDnMatSetStridedBatch(mc, q.batch, cs));
    const void *al = scalar(t[3], 2, 1), *be = scalar(t[3], 3, 0);
    size_t size = 0;
    if (st(cusparseSpMM_bufferSize(H, (cusparseOperation_t)q.op, (cusparseOperation_t)q.opb, al, s, mb, be, mc, kinds[t[3]].type, (cusparseSpMMAlg_t)q.alg, &size))) {
        void *b = buffer(size);
        st(cusparseSpMM_preprocess(H, (cusparseOperation_t)q.op, (cusparseOperation_t)q.opb, al, s, mb, be, mc, kinds[t[3]].type, (cusparseSpMMAlg_t)q.alg, b));
        st(cusparseSpMM(H, (cusparseOperation_t)q.op, (cusparseOperation_t)q.opb, al, s, mb, be, mc, kinds[t[3]].type, (cusparseSpMMAlg_t)q.alg, b));
        results();
        show(c, t[2], cs * q.batch);
    }
    cusparseDestroySpMat(s), cusparseDestroyDnMat(mb), cusparseDestroyDnMat(mc);
    end();
}

static void sddmm(int format, int opa, int opb, int order_a, int order_b, int wide, int base, int kind, int compute) {
    int bd = format == BSR ? 2 : 1;
    struct M c = bd > 1 ? pattern(4, 3, 3, 2) : pattern(7, 6, 3, 3);
    int m = c.m * bd, n = c.n * bd, k = 5;
    begin("sddmm %s op %d %d order %d %d i%d b%d %s %s", formats[format], opa, opb, order_a, order_b, wide ? 64 : 32, base, kinds[kind].name, kinds[compute].name);
    cusparseSpMatDescr_t s = 0;
    struct D d;
    if (bd > 1) {
        d = lay_blocks(&c, bd, bd, 0, kind, wide, base);
        st(cusparseCreateBsr(&s, c.m, c.n, d.nnz, bd, bd, d.off, d.ind, d.val, itype(wide), itype(wide), ibase(base), kinds[kind].type, CUSPARSE_ORDER_ROW));
    } else {
        d = lay(&c, format, kind, wide, base);
        s = sparse(&c, &d, format);
    }
    int ra = opa ? k : m, ca = opa ? m : k, rb = opb ? n : k, cb = opb ? k : n;
    int lda = (order_a ? ca : ra) + 1, ldb = (order_b ? cb : rb) + 1;
    cusparseDnMatDescr_t ma, mb;
    cusparseCreateDnMat(&ma, ra, ca, lda, numbers(kind, (long)lda * (order_a ? ra : ca), 21), kinds[kind].type, order_a ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    cusparseCreateDnMat(&mb, rb, cb, ldb, numbers(kind, (long)ldb * (order_b ? rb : cb), 22), kinds[kind].type, order_b ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    const void *al = scalar(compute, 2, 1), *be = scalar(compute, 3, 0);
    size_t size = 0;
    if (st(cusparseSDDMM_bufferSize(H, (cusparseOperation_t)opa, (cusparseOperation_t)opb, al, ma, mb, be, s, kinds[compute].type, CUSPARSE_SDDMM_ALG_DEFAULT, &size))) {
        void *b = buffer(size);
        st(cusparseSDDMM_preprocess(H, (cusparseOperation_t)opa, (cusparseOperation_t)opb, al, ma, mb, be, s, kinds[compute].type, CUSPARSE_SDDMM_ALG_DEFAULT, b));
        st(cusparseSDDMM(H, (cusparseOperation_t)opa, (cusparseOperation_t)opb, al, ma, mb, be, s, kinds[compute].type, CUSPARSE_SDDMM_ALG_DEFAULT, b));
        results();
        show(d.val, kind, d.nnz * bd * bd);
    }
    cusparseDestroySpMat(s), cusparseDestroyDnMat(ma), cusparseDestroyDnMat(mb);
    end();
}

// The functions of sparse vectors.
static void vectors(const char *what, int kx, int ky, int compute, int wide, int base, int op) {
    long at[] = {7, 0, 3, 11, 5}, n = 12, nnz = 5;
    begin("%s op %d i%d b%d %s %s %s", what, op, wide ? 64 : 32, base, kinds[kx].name, kinds[ky].name, kinds[compute].name);
    void *x = numbers(kx, nnz, 31), *y = numbers(ky, n, 32);
    cusparseSpVecDescr_t vx;
    cusparseDnVecDescr_t vy;
    st(cusparseCreateSpVec(&vx, n, nnz, indices(at, nnz, wide, base), x, itype(wide), ibase(base), kinds[kx].type));
    cusparseCreateDnVec(&vy, n, y, kinds[ky].type);
    const void *al = scalar(compute, 2, 1), *be = scalar(compute, 3, 1);
    int good = 0;
    if (!strcmp(what, "axpby")) good = st(cusparseAxpby(H, al, vx, be, vy));
    if (!strcmp(what, "gather")) good = st(cusparseGather(H, vy, vx));
    if (!strcmp(what, "scatter")) good = st(cusparseScatter(H, vx, vy));
    if (!strcmp(what, "rot")) good = st(cusparseRot(H, al, be, vx, vy));
    if (!strcmp(what, "spvv")) {
        size_t size = 0;
        char out[16] = {0};
        good = st(cusparseSpVV_bufferSize(H, (cusparseOperation_t)op, vx, vy, out, kinds[compute].type, &size));
        if (good) good = st(cusparseSpVV(H, (cusparseOperation_t)op, vx, vy, out, kinds[compute].type, buffer(size)));
        cudaDeviceSynchronize();
        if (good) results(), show(up(out, 16), compute, 1);
        good = 0;
    }
    if (good) results(), show(x, kx, nnz), show(y, ky, n);
    cusparseDestroySpVec(vx), cusparseDestroyDnVec(vy);
    end();
}

static void to_dense(int format, int order, int wide, int base, int kind) {
    struct M a = pattern(7, 6, 3, 3);
    begin("sparsetodense %s order %d i%d b%d %s", formats[format], order, wide ? 64 : 32, base, kinds[kind].name);
    struct D d;
    cusparseSpMatDescr_t s = 0;
    int m = 7, n = 6;
    if (format == BELL) {
        long col[] = {0, 2, 1, -1, 2, -1, 0, 1};
        m = 8;
        st(cusparseCreateBlockedEll(&s, 8, 6, 2, 4, indices(col, 8, wide, base), numbers(kind, 32, 41), itype(wide), ibase(base), kinds[kind].type));
    } else if (format == BSR) {
        struct M b = pattern(4, 3, 3, 2);
        m = 8;
        d = lay_blocks(&b, 2, 2, 0, kind, wide, base);
        st(cusparseCreateBsr(&s, 4, 3, d.nnz, 2, 2, d.off, d.ind, d.val, itype(wide), itype(wide), ibase(base), kinds[kind].type, CUSPARSE_ORDER_ROW));
    } else {
        d = format == SELL ? lay_sell(&a, kind, wide, base) : lay(&a, format, kind, wide, base);
        s = sparse(&a, &d, format);
    }
    int ld = (order ? n : m) + 1;
    void *c = numbers(kind, (long)ld * (order ? m : n), 51);
    cusparseDnMatDescr_t mc;
    cusparseCreateDnMat(&mc, m, n, ld, c, kinds[kind].type, order ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    size_t size = 0;
    if (st(cusparseSparseToDense_bufferSize(H, s, mc, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &size))) {
        st(cusparseSparseToDense(H, s, mc, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer(size)));
        results();
        show(c, kind, (long)ld * (order ? m : n));
    }
    cusparseDestroySpMat(s), cusparseDestroyDnMat(mc);
    end();
}

static void to_sparse(int format, int order, int wide, int base, int kind) {
    struct M a = pattern(6, 6, 3, 3);
    int m = 6, n = 6, ld = 7;
    begin("densetosparse %s order %d i%d b%d %s", formats[format], order, wide ? 64 : 32, base, kinds[kind].name);
    void *h = calloc(64, 16);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if (a.on[i * 32 + j]) put(h, kind, order ? i * ld + j : j * ld + i, re_of(&a, i, j), im_of(&a, i, j));
    void *c = up(h, 64u * (unsigned)kinds[kind].size);
    free(h);
    cusparseDnMatDescr_t mc;
    cusparseCreateDnMat(&mc, m, n, ld, c, kinds[kind].type, order ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    void *off = dev(64), *ind = dev(64 * 8), *row = dev(64 * 8), *val = dev(64 * 16);
    cusparseSpMatDescr_t s = 0;
    cudaDataType t = kinds[kind].type;
    if (format == CSR) cusparseCreateCsr(&s, m, n, 0, off, 0, 0, itype(wide), itype(wide), ibase(base), t);
    if (format == CSC) cusparseCreateCsc(&s, m, n, 0, off, 0, 0, itype(wide), itype(wide), ibase(base), t);
    if (format == COO) cusparseCreateCoo(&s, m, n, 0, 0, 0, 0, itype(wide), ibase(base), t);
    long col[] = {0, 2, 1, -1, 0, 2};
    if (format == BELL) ind = indices(col, 6, wide, base), st(cusparseCreateBlockedEll(&s, m, n, 2, 4, ind, val, itype(wide), ibase(base), t));
    size_t size = 0;
    if (st(cusparseDenseToSparse_bufferSize(H, mc, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &size))) {
        void *b = buffer(size);
        int64_t r = 0, k = 0, nnz = 0;
        st(cusparseDenseToSparse_analysis(H, mc, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, b));
        st(cusparseSpMatGetSize(s, &r, &k, &nnz));
        if (format == CSR) st(cusparseCsrSetPointers(s, off, ind, val));
        if (format == CSC) st(cusparseCscSetPointers(s, off, ind, val));
        if (format == COO) st(cusparseCooSetPointers(s, row, ind, val));
        st(cusparseDenseToSparse_convert(H, mc, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, b));
        results();
        printf(" %ld", (long)nnz);
        if (format == CSR || format == CSC) show_indices(off, 7, wide);
        if (format == COO) show_indices(row, nnz, wide);
        if (format == BELL) show(val, kind, 24);
        else show_indices(ind, nnz, wide), show(val, kind, nnz);
    }
    cusparseDestroySpMat(s), cusparseDestroyDnMat(mc);
    end();
}

static void solve(int format, int op, int upper, int unit, int wide, int base, int kind, int columns, int opb, int order) {
    struct M a = pattern(6, 6, 3, 2);
    for (int i = 0; i < 6; i++) a.on[i * 33] = 1;
    a.diagonal = 1;
    begin("%s %s op %d %d order %d upper %d unit %d i%d b%d %s", columns ? "spsm" : "spsv", formats[format], op, opb, order, upper, unit, wide ? 64 : 32, base, kinds[kind].name);
    struct D d = lay(&a, format, kind, wide, base);
    cusparseSpMatDescr_t s = sparse(&a, &d, format);
    cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    st(cusparseSpMatSetAttribute(s, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    st(cusparseSpMatSetAttribute(s, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag));
    const void *al = scalar(kind, 2, 0);
    cudaDataType t = kinds[kind].type;
    cusparseOperation_t o = (cusparseOperation_t)op, ob = (cusparseOperation_t)opb;
    size_t size = 0;
    if (!columns) {
        void *y = dev(6 * 16);
        cusparseDnVecDescr_t vx, vy;
        cusparseCreateDnVec(&vx, 6, numbers(kind, 6, 21), t), cusparseCreateDnVec(&vy, 6, y, t);
        cusparseSpSVDescr_t v;
        st(cusparseSpSV_createDescr(&v));
        if (st(cusparseSpSV_bufferSize(H, o, al, s, vx, vy, t, CUSPARSE_SPSV_ALG_DEFAULT, v, &size))) {
            st(cusparseSpSV_analysis(H, o, al, s, vx, vy, t, CUSPARSE_SPSV_ALG_DEFAULT, v, buffer(size)));
            st(cusparseSpSV_solve(H, o, al, s, vx, vy, t, CUSPARSE_SPSV_ALG_DEFAULT, v));
            results();
            show(y, kind, 6);
        }
        cusparseSpSV_destroyDescr(v), cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy);
    } else {
        int rows = opb ? columns : 6, cols = opb ? 6 : columns, ld = (order ? cols : rows) + 1, ldc = (order ? columns : 6) + 1;
        void *c = numbers(kind, (long)ldc * (order ? 6 : columns), 61);
        cusparseDnMatDescr_t mb, mc;
        cusparseCreateDnMat(&mb, rows, cols, ld, numbers(kind, (long)ld * (order ? rows : cols), 21), t, order ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
        cusparseCreateDnMat(&mc, 6, columns, ldc, c, t, order ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
        cusparseSpSMDescr_t v;
        st(cusparseSpSM_createDescr(&v));
        if (st(cusparseSpSM_bufferSize(H, o, ob, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v, &size))) {
            st(cusparseSpSM_analysis(H, o, ob, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v, buffer(size)));
            st(cusparseSpSM_solve(H, o, ob, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v));
            results();
            show(c, kind, (long)ldc * (order ? 6 : columns));
        }
        cusparseSpSM_destroyDescr(v), cusparseDestroyDnMat(mb), cusparseDestroyDnMat(mc);
    }
    cusparseDestroySpMat(s);
    end();
}

static void spgemm(int kind, int compute, int wide, int base, int alg, int reuse, double beta) {
    struct M a = pattern(7, 6, 3, 3), b = pattern(6, 5, 4, 3);
    begin("spgemm%s i%d b%d %s %s alg %d beta %g", reuse ? "reuse" : "", wide ? 64 : 32, base, kinds[kind].name, kinds[compute].name, alg, beta);
    struct D da = lay(&a, CSR, kind, wide, base), db = lay(&b, CSR, kind, wide, base);
    cusparseSpMatDescr_t sa = sparse(&a, &da, CSR), sb = sparse(&b, &db, CSR), sc = 0;
    void *off = dev(64), *ind = dev(64 * 8), *val = dev(64 * 16);
    cudaDataType t = kinds[kind].type, ct = kinds[compute].type;
    cusparseCreateCsr(&sc, 7, 5, 0, 0, 0, 0, itype(wide), itype(wide), ibase(base), t);
    cusparseSpGEMMDescr_t g;
    st(cusparseSpGEMM_createDescr(&g));
    const void *al = scalar(compute, 2, 1), *be = scalar(compute, beta, 0);
    cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
    cusparseSpGEMMAlg_t A = (cusparseSpGEMMAlg_t)alg;
    size_t s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
    int64_t r = 0, c = 0, nnz = 0;
    if (!reuse) {
        if (st(cusparseSpGEMM_workEstimation(H, N, N, al, sa, sb, be, sc, ct, A, g, &s1, 0))) {
            st(cusparseSpGEMM_workEstimation(H, N, N, al, sa, sb, be, sc, ct, A, g, &s1, buffer(s1)));
            if (alg == CUSPARSE_SPGEMM_ALG2 || alg == CUSPARSE_SPGEMM_ALG3) {
                st(cusparseSpGEMM_estimateMemory(H, N, N, al, sa, sb, be, sc, ct, A, g, 0.5f, &s3, 0, 0));
                st(cusparseSpGEMM_estimateMemory(H, N, N, al, sa, sb, be, sc, ct, A, g, 0.5f, &s3, buffer(s3), &s2));
                int64_t prods = 0;
                st(cusparseSpGEMM_getNumProducts(g, &prods));
                printf(" products %ld", (long)prods);
            } else {
                st(cusparseSpGEMM_compute(H, N, N, al, sa, sb, be, sc, ct, A, g, &s2, 0));
            }
            st(cusparseSpGEMM_compute(H, N, N, al, sa, sb, be, sc, ct, A, g, &s2, buffer(s2)));
            st(cusparseSpMatGetSize(sc, &r, &c, &nnz));
            st(cusparseCsrSetPointers(sc, off, ind, val));
            st(cusparseSpGEMM_copy(H, N, N, al, sa, sb, be, sc, ct, A, g));
            results();
        }
    } else if (st(cusparseSpGEMMreuse_workEstimation(H, N, N, sa, sb, sc, A, g, &s1, 0))) {
        st(cusparseSpGEMMreuse_workEstimation(H, N, N, sa, sb, sc, A, g, &s1, buffer(s1)));
        st(cusparseSpGEMMreuse_nnz(H, N, N, sa, sb, sc, A, g, &s2, 0, &s3, 0, &s4, 0));
        st(cusparseSpGEMMreuse_nnz(H, N, N, sa, sb, sc, A, g, &s2, buffer(s2), &s3, buffer(s3), &s4, buffer(s4)));
        st(cusparseSpMatGetSize(sc, &r, &c, &nnz));
        st(cusparseCsrSetPointers(sc, off, ind, val));
        st(cusparseSpGEMMreuse_copy(H, N, N, sa, sb, sc, A, g, &s5, 0));
        st(cusparseSpGEMMreuse_copy(H, N, N, sa, sb, sc, A, g, &s5, buffer(s5)));
        st(cusparseSpGEMMreuse_compute(H, N, N, al, sa, sb, be, sc, ct, A, g));
        st(cusparseSpGEMMreuse_compute(H, N, N, al, sa, sb, be, sc, ct, A, g));
        results();
    }
    printf(" %ld %ld %ld", (long)r, (long)c, (long)nnz);
    show_indices(off, 8, wide), show_indices(ind, nnz, wide), show(val, kind, nnz);
    cusparseSpGEMM_destroyDescr(g), cusparseDestroySpMat(sa), cusparseDestroySpMat(sb), cusparseDestroySpMat(sc);
    end();
}

static void descriptors(void) {
    int v = 0;
    begin("version");
    st(cusparseGetVersion(H, &v)), results(), printf(" %d", v);
    for (int i = 0; i < 4; i++) {
        int p = -1;
        cusparseStatus_t s = cusparseGetProperty((libraryPropertyType)i, &p);
        printf(" %d:%d", (int)s, p);
    }
    end();
    for (int i = -1; i < 14; i++) {
        begin("error %d", i), results();
        printf(" %s; %s", cusparseGetErrorName((cusparseStatus_t)i), cusparseGetErrorString((cusparseStatus_t)i));
        end();
    }
    cusparseMatDescr_t m;
    begin("matdescr"), st(cusparseCreateMatDescr(&m)), results();
    printf(" %d %d %d %d", (int)cusparseGetMatType(m), (int)cusparseGetMatFillMode(m), (int)cusparseGetMatDiagType(m), (int)cusparseGetMatIndexBase(m));
    for (int i = -1; i < 5; i++) printf(" %d", (int)cusparseSetMatType(m, (cusparseMatrixType_t)i));
    for (int i = -1; i < 3; i++)
        printf(" %d %d %d", (int)cusparseSetMatFillMode(m, (cusparseFillMode_t)i), (int)cusparseSetMatDiagType(m, (cusparseDiagType_t)i), (int)cusparseSetMatIndexBase(m, (cusparseIndexBase_t)i));
    cusparseDestroyMatDescr(m), end();
    cusparsePointerMode_t mode;
    begin("pointermode"), st(cusparseGetPointerMode(H, &mode)), results();
    printf(" %d", (int)mode);
    for (int i = -1; i < 3; i++) printf(" %d", (int)cusparseSetPointerMode(H, (cusparsePointerMode_t)i));
    cusparseSetPointerMode(H, CUSPARSE_POINTER_MODE_HOST), end();
}

int main(void) {
    begin("create"), st(cusparseCreate(&H)), end();
    descriptors();
    const int plain[] = {CSR, CSC, COO, SELL};
    for (int f = 0; f < 4; f++)
        for (int op = 0; op < 3; op++)
            for (int t = 0; t < TRIPLES; t++) spmv(plain[f], op, triples[t], 0, 0, 0, 3);
    for (int f = 0; f < 4; f++)
        for (int wide = 0; wide < 2; wide++)
            for (int base = 0; base < 2; base++)
                for (int t = 0; t < 4; t++) spmv(plain[f], t % 3, triples[t], wide, base, 0, 0);
    for (int f = 0; f < 4; f++)
        for (int alg = 0; alg < 8; alg++) spmv(plain[f], 0, triples[0], 0, 0, alg, 1);
    for (int op = 0; op < 3; op++)
        for (int t = 0; t < TRIPLES; t++) spmv_bsr(op, triples[t], 0, 0, t & 1);
    for (int t = 0; t < 4; t++) spmv_bsr(0, triples[t], 1, 1, 0), spmv_bsr(0, triples[t], 1, 0, 1), spmv_bsr(0, triples[t], 0, 1, 0);
    const int wide[] = {CSR, CSC, COO, BSR, BELL, SELL};
    for (int f = 0; f < 5; f++)
        for (int t = 0; t < TRIPLES; t++) spmm((struct mm){wide[f], 0, 0, 0, 0, 0, 0, 0, 1, triples[t]});
    for (int f = 0; f < 5; f++)
        for (int op = 0; op < 3; op++)
            for (int opb = 0; opb < 3; opb++)
                for (int o = 0; o < 4; o++) spmm((struct mm){wide[f], op, opb, o & 1, o >> 1, (op + opb) & 1, o & 1, 0, 1, triples[(op + opb + o) % 4]});
    for (int f = 0; f < 5; f++)
        for (int alg = 0; alg < 16; alg++) spmm((struct mm){wide[f], 0, 0, 0, 0, 0, 0, alg, 1, triples[0]});
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < 3; f += 2) spmm((struct mm){wide[f], 0, 0, t & 1, t & 1, 0, 0, 0, 3, triples[t]});
    for (int t = 0; t < 6; t++)
        for (int o = 0; o < 4; o++) {
            sddmm(CSR, o & 1, o >> 1, 0, 0, t & 1, o & 1, triples[t][0], triples[t][3]);
            sddmm(CSR, 0, 0, o & 1, o >> 1, 0, 0, triples[t][0], triples[t][3]);
        }
    for (int t = 0; t < 6; t++) sddmm(BSR, 0, 0, 1, 0, 0, 0, triples[t][0], triples[t][3]), sddmm(CSC, 0, 0, 0, 0, 0, 0, triples[t][0], triples[t][3]);
    sddmm(COO, 0, 0, 0, 0, 0, 0, F32, F32), sddmm(CSR, 2, 0, 0, 0, 0, 0, C32, C32), sddmm(CSR, 0, 2, 0, 0, 0, 0, C64, C64);
    static const char *calls[] = {"axpby", "gather", "scatter", "rot", "spvv"};
    for (int c = 0; c < 5; c++)
        for (int t = 0; t < TRIPLES; t++)
            for (int w = 0; w < 2; w++) vectors(calls[c], triples[t][0], triples[t][2], triples[t][3], w, t & 1, 0);
    for (int t = 0; t < TRIPLES; t++) vectors("spvv", triples[t][0], triples[t][1], triples[t][3], 0, 0, 2), vectors("spvv", triples[t][0], triples[t][1], triples[t][3], 0, 0, 0);
    for (int k = 0; k < 8; k++)
        for (int f = 0; f < 6; f++) to_dense(wide[f], k & 1, f & 1, k >> 1 & 1, k), to_dense(wide[f], ~k & 1, 0, 0, k);
    for (int k = 0; k < 8; k++)
        for (int f = 0; f < 5; f++)
            if (wide[f] != BSR) to_sparse(wide[f], k & 1, f & 1, k >> 1 & 1, k), to_sparse(wide[f], ~k & 1, 0, 0, k);
    for (int i = 0; i < 24; i++)
        for (int f = 0; f < 3; f++) {
            if (f == 1) continue;
            solve(plain[f], i % 3, i >> 1 & 1, i >> 2 & 1, i & 1, i >> 3 & 1, i / 3 % 4, 0, 0, 0);
            solve(plain[f], i % 3, i >> 1 & 1, i >> 2 & 1, i & 1, i >> 3 & 1, i / 3 % 4, 3, i % 2, i >> 1 & 1);
        }
    solve(CSC, 0, 0, 0, 0, 0, F32, 0, 0, 0), solve(CSC, 0, 0, 0, 0, 0, F32, 2, 0, 0);
    for (int t = 0; t < 6; t++)
        for (int alg = 0; alg < 6; alg++) spgemm(triples[t][0], triples[t][3], 0, t & 1, alg, 0, 0);
    for (int t = 0; t < 6; t++) spgemm(triples[t][0], triples[t][3], 0, 0, 0, 1, 0), spgemm(triples[t][0], triples[t][3], 1, 0, 0, 0, 0), spgemm(triples[t][0], triples[t][3], 0, t & 1, 1, 1, 0);
    begin("destroy"), st(cusparseDestroy(H)), end();
    return 0;
}
