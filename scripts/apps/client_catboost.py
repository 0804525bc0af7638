"""catboost on Kudzu, against its CPU path: objectives, tree shapes, missing values, categories, prediction on the device.

The two paths of catboost have different defaults and different random numbers. A case sets what differs: the same borders of features, plain
boosting, no bootstrap, no noise in scores, one step of leaf estimation. Then both build the same trees, to 1e-7. `defaults_error` sets nothing and compares the models' worth.

catboost 1.2.10 fills the weights of features on one stream and reads them on another that does not wait for it. A GPU that has nothing else to
do runs them in the order of the calls; a busy machine of few processors may not, and then a model has a wrong first split."""

import catboost
import numpy as np
from catboost import CatBoost, Pool

from rows import Client

client = Client("catboost", catboost.__version__)
rng = np.random.default_rng(11)
ROWS, COLUMNS = 3000, 10
x = rng.standard_normal((ROWS, COLUMNS)).astype("f4")
hidden = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + (x[:, 3] > 0.3) + 0.1 * rng.standard_normal(ROWS)
y = hidden.astype("f4")
binary = (hidden > np.median(hidden)).astype(int)
classes = np.digitize(hidden, np.quantile(hidden, [0.3, 0.7]))
weight = (lambda w: w / w.mean())(1 + np.abs(x[:, 5]))  # the CPU's regularisation counts in mean weights
missing = np.where(rng.random(x.shape) < 0.2, np.nan, x).astype("f4")
SAME = {"iterations": 15, "depth": 5, "learning_rate": 0.2, "border_count": 64, "bootstrap_type": "No", "random_strength": 0, "boosting_type": "Plain",
        "leaf_estimation_iterations": 1, "score_function": "L2", "random_seed": 3, "verbose": False, "allow_writing_files": False, "thread_count": 2,
        "boost_from_average": False, "model_size_reg": 0, "feature_border_type": "GreedyLogSum"}


def trained(kind, pool, **params):
    params = {**SAME, "task_type": kind, **({"devices": "0", "gpu_ram_part": 0.1} if kind == "GPU" else {}), **params}
    return CatBoost(params).fit(pool)


def case(name, bound=1e-4, make=lambda: Pool(x, y), kind="RawFormulaVal", **params):
    def run(where):
        pool = make()
        return np.asarray(trained(where, pool, **params).predict(pool, prediction_type=kind))

    client.case(name, lambda: run("GPU"), lambda: run("CPU"), bound, group="training")


case("rmse", loss_function="RMSE")
case("logloss", make=lambda: Pool(x, binary), loss_function="Logloss", leaf_estimation_method="Newton")
case("logloss_gradient", make=lambda: Pool(x, binary), loss_function="Logloss", leaf_estimation_method="Gradient")
case("multiclass", make=lambda: Pool(x, classes), kind="Probability", loss_function="MultiClass", leaf_estimation_method="Newton")
case("mae", loss_function="MAE", leaf_estimation_method="Gradient")
case("quantile", loss_function="Quantile:alpha=0.3", leaf_estimation_method="Gradient")
case("poisson", make=lambda: Pool(x, np.exp(y / 2)), loss_function="Poisson", leaf_estimation_method="Gradient")
case("depthwise", loss_function="RMSE", grow_policy="Depthwise")
case("lossguide", loss_function="RMSE", grow_policy="Lossguide", max_leaves=20, min_data_in_leaf=5)
case("missing_values", make=lambda: Pool(missing, y), loss_function="RMSE")
case("weights", make=lambda: Pool(x, y, weight=weight), loss_function="RMSE")
case("deep", loss_function="RMSE", depth=8)
case("borders_254", loss_function="RMSE", border_count=254)
case("borders_15", loss_function="RMSE", border_count=15)
case("one_hot", make=lambda: Pool(np.hstack([np.round(x[:, :2] * 2) + 9, x]).astype(object), y, cat_features=[]), loss_function="RMSE", one_hot_max_size=40)

test = rng.standard_normal((ROWS, COLUMNS)).astype("f4")
truth = np.sin(2 * test[:, 0]) + test[:, 1] * test[:, 2] + (test[:, 3] > 0.3)


def worth(kind):
    more = {"devices": "0", "gpu_ram_part": 0.1} if kind == "GPU" else {}
    model = CatBoost({"task_type": kind, "loss_function": "RMSE", "iterations": 60, "verbose": False, "allow_writing_files": False, "random_seed": 1, **more}).fit(Pool(x, y))
    return np.array([np.sqrt(np.mean((model.predict(test) - truth) ** 2))])


client.case("defaults_error", lambda: worth("GPU"), lambda: worth("CPU"), 0.2, group="training")

fitted = trained("CPU", Pool(x, y), loss_function="RMSE")
client.case("predict", lambda: fitted.predict(Pool(test), task_type="GPU"), lambda: fitted.predict(Pool(test)), 1e-6, group="prediction")

if client.wants("RMSE, 50k x 20, 10 rounds"):
    big = rng.standard_normal((50000, 20)).astype("f4")
    pool = Pool(big, big[:, 0] * big[:, 1] + np.sin(big[:, 2]))
    client.figure("RMSE, 50k x 20, 10 rounds", lambda: trained("GPU", pool, iterations=10, depth=6), lambda: trained("CPU", pool, iterations=10, depth=6),
                  group="training", turns=3)
