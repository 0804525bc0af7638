// Records what sparse_generic.c leaves out of cuSPARSE: SpMVOp, SpGEAM, prunes of halves, const descriptors, SpSM_updateMatrix, batches of
// blocks. What a version may lack is asked for by name; "absent" then.
#define _GNU_SOURCE
#include "sparse_record.h"
#include <dlfcn.h>

typedef cusparseStatus_t S;
static void *the(const char *name) { return dlsym(RTLD_DEFAULT, name); }
static void *buffer(size_t n) { return dev(n < 16 ? 16 : n); }
static int absent(void *f) {
    if (!f) printf(" absent\n");
    return !f;
}

static const int triples[][4] = {{F32, F32, F32, F32}, {F64, F64, F64, F64}, {C32, C32, C32, C32}, {C64, C64, C64, C64}, {F16, F16, F16, F32}, {BF16, BF16, BF16, F32},
                                 {F16, F16, F32, F32}, {S8, S8, S32, S32}, {F32, F64, F64, F64}, {F32, F32, F64, F64}};

static void spmvop(int format, int op, const int *t, int wide, int base, int alg, double beta, int place) {
    S (*size)(cusparseHandle_t, cusparseOperation_t, cusparseSpMatDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType, int, size_t *) = the("cusparseSpMVOp_bufferSize");
    S (*describe)(cusparseHandle_t, void **, cusparseOperation_t, cusparseSpMatDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cudaDataType, int, void *) = the("cusparseSpMVOp_createDescr");
    S (*plan)(cusparseHandle_t, void *, void **, const void *, size_t) = the("cusparseSpMVOp_createPlan");
    S (*run)(cusparseHandle_t, void *, const void *, const void *, cusparseDnVecDescr_t, cusparseDnVecDescr_t, cusparseDnVecDescr_t) = the("cusparseSpMVOp");
    S (*end_plan)(void *) = the("cusparseSpMVOp_destroyPlan"), (*end_descr)(void *) = the("cusparseSpMVOp_destroyDescr");
    begin("spmvop %s op %d i%d b%d %s %s %s %s alg %d beta %g place %d", formats[format], op, wide ? 64 : 32, base, kinds[t[0]].name, kinds[t[1]].name, kinds[t[2]].name, kinds[t[3]].name, alg, beta, place);
    if (absent(run)) return;
    struct M a = pattern(7, 6, 3, 3);
    int m = op ? a.n : a.m, n = op ? a.m : a.n;
    struct D d = lay(&a, format, t[0], wide, base);
    cusparseSpMatDescr_t s = sparse(&a, &d, format);
    void *y = numbers(t[2], m, 22), *z = place ? y : numbers(t[2], m, 23);
    cusparseDnVecDescr_t vx, vy, vz;
    cusparseCreateDnVec(&vx, n, numbers(t[1], n, 21), kinds[t[1]].type);
    cusparseCreateDnVec(&vy, m, y, kinds[t[2]].type), cusparseCreateDnVec(&vz, m, z, kinds[t[2]].type);
    const void *al = scalar(t[3], 2, 1), *be = scalar(t[3], beta, 0);
    size_t bytes = 0;
    void *g = 0, *p = 0;
    if (st(size(H, (cusparseOperation_t)op, s, vx, vy, vz, kinds[t[3]].type, alg, &bytes)) &&
        st(describe(H, &g, (cusparseOperation_t)op, s, vx, vy, vz, kinds[t[3]].type, alg, buffer(bytes))) && st(plan(H, g, &p, 0, 0)) && st(run(H, p, al, be, vx, vy, vz)))
        results(), show(z, t[2], m);
    if (p) st(end_plan(p));
    if (g) st(end_descr(g));
    cusparseDestroySpMat(s), cusparseDestroyDnVec(vx), cusparseDestroyDnVec(vy), cusparseDestroyDnVec(vz);
    end();
}

static void spgeam(int format, int opa, int opb, int kind, int wide, int base, int alg) {
    typedef S (*step)(cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void *, cusparseSpMatDescr_t, const void *, cusparseSpMatDescr_t, cusparseSpMatDescr_t, cudaDataType, int, void *, void *);
    S (*create)(void **) = the("cusparseSpGEAM_createDescr"), (*destroy)(void *) = the("cusparseSpGEAM_destroyDescr");
    step size = (step)the("cusparseSpGEAM_bufferSize"), count = (step)the("cusparseSpGEAM_nnz"), run = (step)the("cusparseSpGEAM");
    begin("spgeam %s op %d %d i%d b%d %s alg %d", formats[format], opa, opb, wide ? 64 : 32, base, kinds[kind].name, alg);
    if (absent((void *)run)) return;
    struct M a = pattern(6, 6, 3, 3), b = pattern(6, 6, 8, 3);
    struct D da = lay(&a, format, kind, wide, base), db = lay(&b, format, kind, wide, base);
    cusparseSpMatDescr_t sa = sparse(&a, &da, format), sb = sparse(&b, &db, format), sc = 0;
    cudaDataType t = kinds[kind].type;
    void *off = dev(64), *ind = dev(512), *val = dev(64 * 16), *g = 0;
    cusparseCreateCsr(&sc, 6, 6, 0, off, 0, 0, itype(wide), itype(wide), ibase(base), t);
    const void *al = scalar(kind, 2, 1), *be = scalar(kind, -1, 0);
    size_t bytes = 0;
    int64_t rows, cols, nnz = 0;
    cusparseOperation_t oa = (cusparseOperation_t)opa, ob = (cusparseOperation_t)opb;
    st(create(&g));
    if (st(size(H, oa, ob, al, sa, be, sb, sc, t, alg, g, &bytes))) {
        void *w = buffer(bytes);
        if (st(count(H, oa, ob, al, sa, be, sb, sc, t, alg, g, w))) {
            cusparseSpMatGetSize(sc, &rows, &cols, &nnz);
            st(cusparseCsrSetPointers(sc, off, ind, val));
            if (st(run(H, oa, ob, al, sa, be, sb, sc, t, alg, g, w))) results(), printf(" %d", (int)nnz), show_indices(off, 7, wide), show_indices(ind, nnz, wide), show(val, kind, nnz);
        }
    }
    destroy(g), cusparseDestroySpMat(sa), cusparseDestroySpMat(sb), cusparseDestroySpMat(sc);
    end();
}

// Prunes of halves, whose thresholds are halves. Nothing of CUDA's types of halves is needed here, so they are asked for by name too.
static cusparseMatDescr_t MD[2];
static void prunes(int base, int seed) {
    S (*ds)(cusparseHandle_t, int, int, const void *, int, const void *, cusparseMatDescr_t, const void *, const int *, const int *, size_t *) = the("cusparseHpruneDense2csr_bufferSizeExt");
    S (*dn)(cusparseHandle_t, int, int, const void *, int, const void *, cusparseMatDescr_t, int *, int *, void *) = the("cusparseHpruneDense2csrNnz");
    S (*d2)(cusparseHandle_t, int, int, const void *, int, const void *, cusparseMatDescr_t, void *, const int *, int *, void *) = the("cusparseHpruneDense2csr");
    S (*cs)(cusparseHandle_t, int, int, int, cusparseMatDescr_t, const void *, const int *, const int *, const void *, cusparseMatDescr_t, const void *, const int *, const int *, size_t *) = the("cusparseHpruneCsr2csr_bufferSizeExt");
    S (*cn)(cusparseHandle_t, int, int, int, cusparseMatDescr_t, const void *, const int *, const int *, const void *, cusparseMatDescr_t, int *, int *, void *) = the("cusparseHpruneCsr2csrNnz");
    S (*c2)(cusparseHandle_t, int, int, int, cusparseMatDescr_t, const void *, const int *, const int *, const void *, cusparseMatDescr_t, void *, const int *, int *, void *) = the("cusparseHpruneCsr2csr");
    S (*dps)(cusparseHandle_t, int, int, const void *, int, float, cusparseMatDescr_t, const void *, const int *, const int *, pruneInfo_t, size_t *) = the("cusparseHpruneDense2csrByPercentage_bufferSizeExt");
    S (*dpn)(cusparseHandle_t, int, int, const void *, int, float, cusparseMatDescr_t, int *, int *, pruneInfo_t, void *) = the("cusparseHpruneDense2csrNnzByPercentage");
    S (*dp)(cusparseHandle_t, int, int, const void *, int, float, cusparseMatDescr_t, void *, const int *, int *, pruneInfo_t, void *) = the("cusparseHpruneDense2csrByPercentage");
    S (*cps)(cusparseHandle_t, int, int, int, cusparseMatDescr_t, const void *, const int *, const int *, float, cusparseMatDescr_t, const void *, const int *, const int *, pruneInfo_t, size_t *) = the("cusparseHpruneCsr2csrByPercentage_bufferSizeExt");
    S (*cpn)(cusparseHandle_t, int, int, int, cusparseMatDescr_t, const void *, const int *, const int *, float, cusparseMatDescr_t, int *, int *, pruneInfo_t, void *) = the("cusparseHpruneCsr2csrNnzByPercentage");
    S (*cp)(cusparseHandle_t, int, int, int, cusparseMatDescr_t, const void *, const int *, const int *, float, cusparseMatDescr_t, void *, const int *, int *, pruneInfo_t, void *) = the("cusparseHpruneCsr2csrByPercentage");
    struct M a = pattern(7, 6, (uint64_t)seed, 2);
    struct D d = lay(&a, CSR, F16, 0, base);
    size_t size = 0;
    int nnz = 0;
    void *A = numbers(F16, 9 * 6, (uint64_t)(81 + seed)), *off = dev(64), *ind = dev(256), *val = dev(512), *b;
    for (int by = 1; by <= 3; by++) {
        const void *by16 = scalar(F16, by, 0);
        begin("hpruneDense2csr f16 b%d seed %d by %d", base, seed, by);
        if (absent((void *)d2)) return;
        st(ds(H, 7, 6, A, 9, by16, MD[base], val, off, ind, &size)), b = buffer(size), st(dn(H, 7, 6, A, 9, by16, MD[base], off, &nnz, b)), st(d2(H, 7, 6, A, 9, by16, MD[base], val, off, ind, b));
        results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, F16, nnz), printf("\n");
        begin("hpruneCsr2csr f16 b%d seed %d by %d", base, seed, by);
        st(cs(H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, by16, MD[base], val, off, ind, &size)), b = buffer(size);
        st(cn(H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, by16, MD[base], off, &nnz, b)), st(c2(H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, by16, MD[base], val, off, ind, b));
        results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, F16, nnz), printf("\n");
        pruneInfo_t info;
        cusparseCreatePruneInfo(&info);
        float share = (float)(25 * by);
        begin("hpruneDense2csrByPercentage f16 b%d seed %d by %d", base, seed, by);
        st(dps(H, 7, 6, A, 9, share, MD[base], val, off, ind, info, &size)), b = buffer(size), st(dpn(H, 7, 6, A, 9, share, MD[base], off, &nnz, info, b)), st(dp(H, 7, 6, A, 9, share, MD[base], val, off, ind, info, b));
        results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, F16, nnz), printf("\n");
        begin("hpruneCsr2csrByPercentage f16 b%d seed %d by %d", base, seed, by);
        st(cps(H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, share, MD[base], val, off, ind, info, &size)), b = buffer(size);
        st(cpn(H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, share, MD[base], off, &nnz, info, b)), st(cp(H, 7, 6, (int)d.nnz, MD[base], d.val, d.off, d.ind, share, MD[base], val, off, ind, info, b));
        results(), printf(" %d", nnz), show(off, S32, 8), show(ind, S32, nnz), show(val, F16, nnz), printf("\n");
        cusparseDestroyPruneInfo(info);
    }
    done();
}

// Const descriptors: what was put in comes out, and products take them.
static void consts(int kind, int wide, int base) {
    struct M a = pattern(7, 6, 3, 3);
    cudaDataType t = kinds[kind].type, vt = 0;
    struct D d = lay(&a, CSR, kind, wide, base), e = lay(&a, CSC, kind, wide, base);
    cusparseConstSpMatDescr_t s = 0;
    cusparseConstDnVecDescr_t x = 0;
    cusparseConstDnMatDescr_t dm = 0;
    cusparseConstSpVecDescr_t sv = 0;
    cusparseIndexType_t it = 0, jt = 0;
    cusparseIndexBase_t ib = 0;
    cusparseOrder_t order = 0;
    int64_t r = 0, c = 0, n = 0, k = 0;
    const void *p = 0, *q = 0, *v = 0, *w = 0;
    void *xs = numbers(kind, 6, 21), *y = numbers(kind, 7, 22);
    begin("const i%d b%d %s", wide ? 64 : 32, base, kinds[kind].name);
    st(cusparseCreateConstCsr(&s, 7, 6, d.nnz, d.off, d.ind, d.val, itype(wide), itype(wide), ibase(base), t));
    st(cusparseConstCsrGet(s, &r, &c, &n, &p, &q, &v, &it, &jt, &ib, &vt)), st(cusparseConstSpMatGetValues(s, &w));
    printf(" %d %d %d %d %d %d %d %d", (int)r, (int)c, (int)n, p == d.off && q == d.ind && v == d.val && w == v, (int)it, (int)jt, (int)ib, (int)vt);
    st(cusparseCreateConstDnVec(&x, 6, xs, t)), st(cusparseConstDnVecGet(x, &n, &v, &vt)), st(cusparseConstDnVecGetValues(x, &w));
    printf(" %d %d %d", (int)n, v == xs && w == v, (int)vt);
    cusparseDnVecDescr_t vy;
    cusparseCreateDnVec(&vy, 7, y, t);
    size_t size = 0;
    const void *al = scalar(kind, 2, 1), *be = scalar(kind, 3, 0);
    st(cusparseSpMV_bufferSize(H, CUSPARSE_OPERATION_NON_TRANSPOSE, al, s, x, be, vy, t, CUSPARSE_SPMV_ALG_DEFAULT, &size));
    st(cusparseSpMV(H, CUSPARSE_OPERATION_NON_TRANSPOSE, al, s, x, be, vy, t, CUSPARSE_SPMV_ALG_DEFAULT, buffer(size)));
    cusparseDestroySpMat(s);
    st(cusparseCreateConstCsc(&s, 7, 6, e.nnz, e.off, e.ind, e.val, itype(wide), itype(wide), ibase(base), t)), st(cusparseConstCscGet(s, &r, &c, &n, &p, &q, &v, &it, &jt, &ib, &vt));
    printf(" %d %d %d %d", (int)r, (int)c, (int)n, p == e.off && q == e.ind && v == e.val), cusparseDestroySpMat(s);
    st(cusparseCreateConstCoo(&s, 7, 6, d.nnz, d.ind2, d.ind, d.val, itype(wide), ibase(base), t)), st(cusparseConstCooGet(s, &r, &c, &n, &p, &q, &v, &it, &ib, &vt));
    printf(" %d %d %d %d", (int)r, (int)c, (int)n, p == d.ind2 && q == d.ind && v == d.val), cusparseDestroySpMat(s);
    st(cusparseCreateConstBlockedEll(&s, 4, 4, 2, 2, d.ind, d.val, itype(wide), ibase(base), t)), st(cusparseConstBlockedEllGet(s, &r, &c, &n, &k, &p, &v, &it, &ib, &vt));
    printf(" %d %d %d %d %d", (int)r, (int)c, (int)n, (int)k, p == d.ind && v == d.val), cusparseDestroySpMat(s);
    st(cusparseCreateConstBsr(&s, 3, 3, 2, 2, 2, d.off, d.ind, d.val, itype(wide), itype(wide), ibase(base), t, CUSPARSE_ORDER_ROW)), st(cusparseSpMatGetSize(s, &r, &c, &n));
    printf(" %d %d %d", (int)r, (int)c, (int)n), cusparseDestroySpMat(s);
    st(cusparseCreateConstSlicedEll(&s, 7, 6, d.nnz, 16, 2, d.off, d.ind, d.val, itype(wide), itype(wide), ibase(base), t)), st(cusparseSpMatGetSize(s, &r, &c, &n));
    printf(" %d %d %d", (int)r, (int)c, (int)n), cusparseDestroySpMat(s);
    st(cusparseCreateConstDnMat(&dm, 2, 3, 2, xs, t, CUSPARSE_ORDER_COL)), st(cusparseConstDnMatGet(dm, &r, &c, &n, &v, &vt, &order)), st(cusparseConstDnMatGetValues(dm, &w));
    printf(" %d %d %d %d %d", (int)r, (int)c, (int)n, v == xs && w == v, (int)order), cusparseDestroyDnMat(dm);
    st(cusparseCreateConstSpVec(&sv, 6, 3, d.ind, xs, itype(wide), ibase(base), t)), st(cusparseConstSpVecGet(sv, &r, &n, &p, &v, &it, &ib, &vt)), st(cusparseConstSpVecGetValues(sv, &w));
    printf(" %d %d %d %d", (int)r, (int)n, p == d.ind && v == xs && w == v, (int)it), cusparseDestroySpVec(sv);
    results(), show(y, kind, 7);
    cusparseDestroyDnVec(x), cusparseDestroyDnVec(vy);
    end();
}

// A triangle's values or diagonal change between two solves.
static void update(int kind, int upper, int part, int columns) {
    struct M a = pattern(6, 6, 3, 2);
    for (int i = 0; i < 6; i++) a.on[i * 33] = 1;
    a.diagonal = 1;
    begin("update %s %s upper %d part %d", columns > 1 ? "spsm" : "spsv", kinds[kind].name, upper, part);
    struct D d = lay(&a, CSR, kind, 0, 0);
    cusparseSpMatDescr_t s = sparse(&a, &d, CSR);
    cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseSpMatSetAttribute(s, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill);
    void *fresh = numbers(kind, part ? 6 : d.nnz, 91), *c = dev(6 * 16 * 4), *b = numbers(kind, 6 * columns, 21);
    const void *al = scalar(kind, 2, 0);
    cudaDataType t = kinds[kind].type;
    cusparseOperation_t o = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t size = 0;
    if (columns > 1) {
        cusparseDnMatDescr_t mb, mc;
        cusparseSpSMDescr_t v;
        cusparseCreateDnMat(&mb, 6, columns, 6, b, t, CUSPARSE_ORDER_COL), cusparseCreateDnMat(&mc, 6, columns, 6, c, t, CUSPARSE_ORDER_COL), cusparseSpSM_createDescr(&v);
        st(cusparseSpSM_bufferSize(H, o, o, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v, &size)), st(cusparseSpSM_analysis(H, o, o, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v, buffer(size)));
        st(cusparseSpSM_solve(H, o, o, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v));
        st(cusparseSpSM_updateMatrix(H, v, fresh, part ? CUSPARSE_SPSM_UPDATE_DIAGONAL : CUSPARSE_SPSM_UPDATE_GENERAL)), st(cusparseSpSM_solve(H, o, o, al, s, mb, mc, t, CUSPARSE_SPSM_ALG_DEFAULT, v));
        cusparseSpSM_destroyDescr(v), cusparseDestroyDnMat(mb), cusparseDestroyDnMat(mc);
    } else {
        cusparseDnVecDescr_t vb, vc;
        cusparseSpSVDescr_t v;
        cusparseCreateDnVec(&vb, 6, b, t), cusparseCreateDnVec(&vc, 6, c, t), cusparseSpSV_createDescr(&v);
        st(cusparseSpSV_bufferSize(H, o, al, s, vb, vc, t, CUSPARSE_SPSV_ALG_DEFAULT, v, &size)), st(cusparseSpSV_analysis(H, o, al, s, vb, vc, t, CUSPARSE_SPSV_ALG_DEFAULT, v, buffer(size)));
        st(cusparseSpSV_solve(H, o, al, s, vb, vc, t, CUSPARSE_SPSV_ALG_DEFAULT, v));
        st(cusparseSpSV_updateMatrix(H, v, fresh, part ? CUSPARSE_SPSV_UPDATE_DIAGONAL : CUSPARSE_SPSV_UPDATE_GENERAL)), st(cusparseSpSV_solve(H, o, al, s, vb, vc, t, CUSPARSE_SPSV_ALG_DEFAULT, v));
        cusparseSpSV_destroyDescr(v), cusparseDestroyDnVec(vb), cusparseDestroyDnVec(vc);
    }
    results(), show(c, kind, 6 * columns);
    cusparseDestroySpMat(s);
    end();
}

// Blocks in batches: the pattern may be shared, the values are not.
static void blocks(int kind, int base, int batch, int shared, int order) {
    struct M a = pattern(4, 3, 3, 2);
    begin("bsr batch %d shared %d order %d b%d %s", batch, shared, order, base, kinds[kind].name);
    struct D d = lay_blocks(&a, 2, 2, 0, kind, 0, base);
    cusparseSpMatDescr_t s = 0;
    cudaDataType t = kinds[kind].type;
    int32_t off[64], ind[64];
    void *offs = dev(64 * 4 * 4), *inds = dev(64 * 4 * 4), *vals = numbers(kind, d.nnz * 4 * batch, 33), *c = numbers(kind, 8 * 3 * batch, 62);
    cudaMemcpy(off, d.off, 20, cudaMemcpyDeviceToHost), cudaMemcpy(ind, d.ind, (size_t)d.nnz * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < batch; i++)
        cudaMemcpy((int32_t *)offs + 5 * i, off, 20, cudaMemcpyHostToDevice), cudaMemcpy((int32_t *)inds + d.nnz * i, ind, (size_t)d.nnz * 4, cudaMemcpyHostToDevice);
    cusparseDnMatDescr_t mb, mc;
    cusparseOrder_t o = order ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    cusparseCreateDnMat(&mb, 6, 3, order ? 3 : 6, numbers(kind, 18 * batch, 63), t, o), cusparseCreateDnMat(&mc, 8, 3, order ? 3 : 8, c, t, o);
    st(cusparseDnMatSetStridedBatch(mb, batch, 18)), st(cusparseDnMatSetStridedBatch(mc, batch, 24));
    st(cusparseCreateBsr(&s, 4, 3, d.nnz, 2, 2, offs, inds, vals, itype(0), itype(0), ibase(base), t, CUSPARSE_ORDER_ROW));
    st(cusparseBsrSetStridedBatch(s, batch, shared ? 0 : 5, shared ? 0 : d.nnz, d.nnz * 4));
    size_t size = 0;
    const void *al = scalar(kind, 2, 1), *be = scalar(kind, 3, 0);
    cusparseOperation_t n = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (st(cusparseSpMM_bufferSize(H, n, n, al, s, mb, be, mc, t, CUSPARSE_SPMM_ALG_DEFAULT, &size)) && st(cusparseSpMM(H, n, n, al, s, mb, be, mc, t, CUSPARSE_SPMM_ALG_DEFAULT, buffer(size))))
        results(), show(c, kind, 24 * batch);
    cusparseDestroySpMat(s), cusparseDestroyDnMat(mb), cusparseDestroyDnMat(mc);
    end();
}

int main(void) {
    cusparseCreate(&H);
    cusparseCreateMatDescr(&MD[0]), cusparseCreateMatDescr(&MD[1]);
    cusparseSetMatIndexBase(MD[1], CUSPARSE_INDEX_BASE_ONE);
    int n = (int)(sizeof triples / sizeof *triples);
    for (int i = 0; i < n; i++)
        for (int wide = 0; wide < 2; wide++) spmvop(CSR, 0, triples[i], wide, i & 1, 0, 3, wide);
    for (int i = 0; i < 4; i++) spmvop(CSR, 0, triples[i], 0, 0, 1, 0, 0), spmvop(CSR, 0, triples[i], 0, 1, 2, -1, 1), spmvop(CSR, 1, triples[i], 0, 0, 0, 3, 0), spmvop(CSC, 0, triples[i], 0, 0, 0, 3, 0), spmvop(COO, 0, triples[i], 0, 0, 0, 3, 0);
    spmvop(CSR, 2, triples[2], 0, 0, 0, 3, 0), spmvop(CSR, 0, triples[0], 0, 0, 3, 3, 0), spmvop(CSR, 0, triples[0], 0, 0, -1, 3, 0), spmvop(CSR, 3, triples[0], 0, 0, 0, 3, 0);
    for (int kind = 0; kind < 6; kind++)
        for (int wide = 0; wide < 2; wide++)
            for (int base = 0; base < 2; base++) spgeam(CSR, 0, 0, kind, wide, base, wide);
    for (int kind = 0; kind < 4; kind++) spgeam(CSR, 1, 0, kind, 0, 0, 0), spgeam(CSR, 0, 2, kind, 0, 0, 0), spgeam(CSC, 0, 0, kind, 0, 0, 0), spgeam(COO, 0, 0, kind, 0, 0, 0);
    for (int base = 0; base < 2; base++)
        for (int seed = 3; seed < 7; seed++) prunes(base, seed);
    for (int kind = 0; kind < 6; kind++)
        for (int i = 0; i < 4; i++) consts(kind, i & 1, i >> 1);
    for (int kind = 0; kind < 4; kind++)
        for (int i = 0; i < 4; i++) update(kind, i & 1, i >> 1, 3), update(kind, i & 1, i >> 1, 1);
    for (int kind = 0; kind < 4; kind++)
        for (int i = 0; i < 8; i++) blocks(kind, i & 1, i & 2 ? 2 : 1, i >> 2, i == 3);
    cusparseDestroy(H);
    return 0;
}
