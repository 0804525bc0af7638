module kudzu

go 1.25
