import pddlego_local as pddlego

options = {
    "environment": "described",
    "environment__sizes": [3, 4],
    "method": "formalizer",
}
print(pddlego.Game(**options).reset(1)[0][:40])
try:
    print(pddlego.run(**options, model="reference", decoding="free", games="1"))
except Exception as error:
    print(error)
