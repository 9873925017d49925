"""Symptoms, causes, remedies: the skill's own table, corrected, and what people met since. Order: as a run goes."""

from mindspeed_mm_train_profiler.skill.wording import Language, text

SYMPTOMS: tuple[str, ...] = (
    # the skill's own six
    "npu_out_of_memory",
    "output_empty",
    "port_in_use",
    "dynamic_no_effect",
    "some_ranks_only",
    "tools_json_missing",
    # met in the field
    "cann_not_sourced",
    "npu_smi_8005",
    "npu_busy",
    "profiler_silenced",
    "wrong_place",
    "script_ends_with_0",
    "fewer_steps",
    "parsed_without_results",
    "parse_crashes",
    "parse_takes_hours",
    "host_data_only",
    "no_step_numbers",
    "killed",
    "crash_at_window_end",
    "failed_while_saving",
    "disk_full",
    "dynamic_not_parsed",
    "dynamic_no_file",
    "call_timed_out",
)


def render(language: Language) -> str:
    """The table in one language, as Markdown."""

    def say(key: str) -> str:
        return text(language, f"trouble.{key}")

    lines = [f"# {say('title')}", "", say("intro"), ""]
    lines += [f"| {say('symptom')} | {say('cause')} | {say('remedy')} |", "| --- | --- | --- |"]
    lines += [f"| {say(f'{key}.symptom')} | {say(f'{key}.cause')} | {say(f'{key}.remedy')} |" for key in SYMPTOMS]
    return "\n".join([*lines, ""])
