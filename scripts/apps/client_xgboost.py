"""xgboost on Kudzu, against its CPU path: training by histograms, objectives, missing values, categories, prediction, SHAP values.

Its two paths are two algorithms, and differ on a GPU as they do here:
- the GPU's sketch of a feature takes max_bin * 8 of the sorted rows, so rare values are no cut points where there are more rows;
- of 32 bins the GPU takes the best split first and asks for min_child_weight then, the CPU the other way round.
The cases have 2000 rows, features of fewer than 256 values and min_child_weight 0: there both must build the same trees. `cuts_of_the_cpu`
has the GPU train on the CPU's cut points of continuous features; `defaults_error` sets nothing and compares the worth of the models."""

import numpy as np
import xgboost as xgb

from rows import Client

client = Client("xgboost", xgb.__version__)
rng = np.random.default_rng(11)
ROWS, COLUMNS, ROUNDS = 2000, 12, 12
continuous = rng.standard_normal((ROWS, COLUMNS)).astype("f4")
x = np.round(continuous * 8) / 8 + np.float32(0)  # fewer than 256 values each; no -0
hidden = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + (x[:, 3] > 0.3) + 0.1 * rng.standard_normal(ROWS)
y = hidden.astype("f4")
binary = (hidden > np.median(hidden)).astype("f4")
classes = np.digitize(hidden, np.quantile(hidden, [0.25, 0.5, 0.75]))
missing = np.where(rng.random(x.shape) < 0.2, np.nan, x).astype("f4")
categories = rng.integers(0, 9, (ROWS, 3))
groups = np.full(ROWS // 40, 40)
relevance = np.clip(np.digitize(hidden, np.quantile(hidden, [0.5, 0.8, 0.95])), 0, 3)


def matrix(data=x, label=y, **more):
    return xgb.DMatrix(data, label, **more)


def trained(device, data, rounds=ROUNDS, **params):
    params = {"device": device, "tree_method": "hist", "max_depth": 5, "eta": 0.3, "seed": 1, "min_child_weight": 0, **params}
    return xgb.train(params, data, rounds)


def predictions(device, make=matrix, **params):
    data = make()
    return trained(device, data, **params).predict(data)


def case(name, bound=1e-4, group="training", make=matrix, **params):
    client.case(name, lambda: predictions("cuda", make, **params), lambda: predictions("cpu", make, **params), bound, group=group)


case("regression")
case("absolute_error", objective="reg:absoluteerror")
case("gamma", objective="reg:gamma", make=lambda: matrix(label=np.exp(y)))
case("binary", objective="binary:logistic", make=lambda: matrix(label=binary))
case("multiclass", objective="multi:softprob", num_class=4, make=lambda: matrix(label=classes))
case("ranking", objective="rank:ndcg", lambdarank_pair_method="topk", make=lambda: matrix(label=relevance, group=groups), bound=2e-3)
case("missing_values", make=lambda: matrix(missing))
case("categories", make=lambda: xgb.DMatrix(np.hstack([x, categories]).astype("f4"), y, enable_categorical=True, feature_types=["q"] * COLUMNS + ["c"] * 3))
case("leafwise", grow_policy="lossguide", max_leaves=24, max_depth=0)
case("weights", make=lambda: matrix(weight=1 + np.abs(x[:, 5])))
case("constraints", interaction_constraints="[[0,1,2,3],[4,5,6,7,8,9,10,11]]")
case("forest", num_parallel_tree=4, rounds=3)
case("regularised", reg_alpha=0.5, reg_lambda=3.0, gamma=0.1)
case("dart", booster="dart")
case("quantile", objective="reg:quantileerror", quantile_alpha=0.4)
case("two_targets", make=lambda: matrix(label=np.stack([y, -2 * y], 1)))
case("cuts_of_the_cpu", make=lambda: xgb.QuantileDMatrix(continuous, y))  # made on the CPU: training on the GPU takes its cut points

test = rng.standard_normal((ROWS, COLUMNS)).astype("f4")
truth = np.sin(2 * test[:, 0]) + test[:, 1] * test[:, 2] + (test[:, 3] > 0.3)


def worth(device, **params):
    fitted = xgb.train({"device": device, **params}, xgb.DMatrix(continuous, y), 30).predict(xgb.DMatrix(test))
    return np.array([np.sqrt(np.mean((fitted - truth) ** 2))])


MONOTONE = {"monotone_constraints": "(0,0,0,1" + ",0" * (COLUMNS - 4) + ")"}
client.case("defaults_error", lambda: worth("cuda"), lambda: worth("cpu"), 0.05, group="training")
client.case("monotone_error", lambda: worth("cuda", **MONOTONE), lambda: worth("cpu", **MONOTONE), 0.05, group="training")

models = {}


def model(device, which):
    if which not in models:
        models[which] = trained("cpu", matrix(label=classes if which == "multiclass" else y),
                                **({"objective": "multi:softprob", "num_class": 4} if which == "multiclass" else {}))
    copy = models[which].copy()
    copy.set_param({"device": device})
    return copy


for which in ("regression", "multiclass"):
    for kind, options, bound in [("predict", {}, 1e-5), ("leaves", {"pred_leaf": True}, 0), ("shap", {"pred_contribs": True}, 1e-4),
                                 ("interactions", {"pred_interactions": True}, 1e-4)]:
        few = xgb.DMatrix(x[:300])
        client.case(f"{kind}_{which}", lambda: model("cuda", which).predict(few, **options), lambda: model("cpu", which).predict(few, **options), bound,
                    group="prediction")

big = rng.standard_normal((50000, 20)).astype("f4")
target = (big[:, 0] * big[:, 1] + np.sin(big[:, 2])).astype("f4")
pair = {d: xgb.QuantileDMatrix(big, target) for d in ("cuda", "cpu")} if client.wants("hist, 50k x 20, 10 rounds") else {}
client.figure("hist, 50k x 20, 10 rounds", lambda: trained("cuda", pair["cuda"], 10, max_depth=6), lambda: trained("cpu", pair["cpu"], 10, max_depth=6), group="training",
              turns=3)
