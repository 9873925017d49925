"""Documents made from the code: connection recipes, tool and command references, option and troubleshooting tables.

``python -m mindspeed_mm_train_profiler.reference`` writes them into ``docs/`` between markers; with ``--check`` it only
compares. Prose comes from the catalogues, facts from the code, so that no document can lag behind what it describes.
"""
