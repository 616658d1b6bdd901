"""The small tables whose numbers the source texts print, as CSV, for `build_datasets.py`."""

from typing import Any

BUYS_COMPUTER = """age,income,student,credit_rating,buys_computer
youth,high,no,fair,no
youth,high,no,excellent,no
middle_aged,high,no,fair,yes
senior,medium,no,fair,yes
senior,low,yes,fair,yes
senior,low,yes,excellent,no
middle_aged,low,yes,excellent,yes
youth,medium,no,fair,no
youth,low,yes,fair,yes
senior,medium,yes,fair,yes
youth,medium,yes,excellent,yes
middle_aged,medium,no,excellent,yes
middle_aged,high,yes,fair,yes
senior,medium,no,excellent,no
"""

BASKETS = """transaction,I1,I2,I3,I4,I5
T100,True,True,False,False,True
T200,False,True,False,True,False
T300,False,True,True,False,False
T400,True,True,False,True,False
T500,True,False,True,False,False
T600,False,True,True,False,False
T700,True,False,True,False,False
T800,True,True,True,False,True
T900,True,True,True,False,False
"""

KMEANS_POINTS = """point,x1,x2
x1,1,0
x2,0,1
x3,2,1
x4,3,3
"""

SINGLE_LINK_POINTS = """point,x1,x2
P1,0.40,0.53
P2,0.22,0.38
P3,0.35,0.32
P4,0.26,0.19
P5,0.08,0.41
P6,0.45,0.30
"""

SINGLE_LINK_DISTANCES = """point,P1,P2,P3,P4,P5,P6
P1,0.00,0.23,0.22,0.37,0.34,0.23
P2,0.23,0.00,0.15,0.20,0.14,0.25
P3,0.22,0.15,0.00,0.15,0.28,0.11
P4,0.37,0.20,0.15,0.00,0.29,0.22
P5,0.34,0.14,0.28,0.29,0.00,0.39
P6,0.23,0.25,0.11,0.22,0.39,0.00
"""

ENJOY_SPORT = """sky,air_temperature,humidity,wind,water,forecast,enjoy_sport
sunny,warm,normal,strong,warm,same,yes
sunny,warm,high,strong,warm,same,yes
rainy,cold,high,strong,warm,change,no
sunny,warm,high,strong,cool,change,yes
"""

LEARNER_OUTPUTS = """learner,C1,C2,C3
d1,0.2,0.5,0.3
d2,0.0,0.6,0.4
d3,0.4,0.4,0.2
"""

#: Name to CSV, description, source and options.
TABLES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "buys_computer": (
        BUYS_COMPUTER,
        "Fourteen customers and whether they buy a computer",
        "SIT1305 II",
        {"target": "buys_computer"},
    ),
    "baskets": (
        BASKETS,
        "Nine transactions over five items",
        "SIT1305 II (Table 6.1)",
        {"identifiers": ["transaction"]},
    ),
    "kmeans_points": (
        KMEANS_POINTS,
        "Four points, clustered by hand",
        "SIT1305 III",
        {"identifiers": ["point"]},
    ),
    "single_link_points": (
        SINGLE_LINK_POINTS,
        "Six points, linked by hand; the printed distances do not follow from them exactly",
        "SIT1305 III",
        {"identifiers": ["point"]},
    ),
    "single_link_distances": (
        SINGLE_LINK_DISTANCES,
        "The distances between the six points as used in the text",
        "SIT1305 III",
        {"identifiers": ["point"]},
    ),
    "enjoy_sport": (
        ENJOY_SPORT,
        "Four days, for version spaces",
        "T. Mitchell, 1997",
        {"target": "enjoy_sport"},
    ),
    "learner_outputs": (
        LEARNER_OUTPUTS,
        "What three learners say of three classes, for the rules of combination",
        "Alpaydin 17.4 (Table 17.2)",
        {"identifiers": ["learner"]},
    ),
}

GERMAN_CREDIT_COLUMNS = """
status duration credit_history purpose amount savings present_employment installment_rate
status_sex other_debtors residence_since property age installment_plans housing
number_of_credits job dependents telephone foreign_worker credit
"""

ADULT_COLUMNS = """
age workclass fnlwgt education education_num marital_status occupation relationship race
sex capital_gain capital_loss hours_per_week native_country income
"""
