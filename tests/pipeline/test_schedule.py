"""The local engine's budget: whatever tasks say that they take, and however they end, all run and none is exceeded."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.pipeline.engines.machine import Machine, memory_of_machine, this_machine, visible_gpus
from gristmill.pipeline.engines.schedule import Schedule
from gristmill.pipeline.resources import Resources

MEMORY = 7
GPUS = ("0", "GPU-b", "7")
TASKS = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.builds(Resources, st.integers(1, 9), st.integers(0, MEMORY), st.integers(0, len(GPUS))),
    ),
    max_size=30,
)


def check_budget(schedule: Schedule) -> None:
    machine, running = schedule.machine, list(schedule.running.values())
    assert len(running) <= 1 or sum(g.resources.cpus for g in running) <= machine.cpus
    assert sum(g.resources.mem_bytes for g in running) <= machine.mem_bytes
    held = [name for g in running for name in g.gpus]
    assert len(held) == len(set(held)) and set(held) <= set(machine.gpus)
    assert all(len(g.gpus) == g.resources.gpus for g in running)


@given(tasks=TASKS, cpus=st.integers(1, 6), data=st.data())
def test_everything_runs_and_nothing_is_exceeded(
    tasks: list[tuple[int, Resources]], cpus: int, data: st.DataObject
) -> None:
    schedule = Schedule(Machine(cpus, MEMORY, GPUS))
    schedule.machine.refuse(("", resources) for _, resources in tasks)
    for index, (size, resources) in enumerate(tasks):
        schedule.add(index, size, resources)
    done: list[int] = []
    losses = 5
    while schedule.waits() or schedule.running:
        while schedule.take() is not None:
            check_budget(schedule)
        assert schedule.running, "something waits and nothing runs: a deadlock"
        index = data.draw(st.sampled_from(sorted(schedule.running)))
        schedule.give_back(index)
        if losses and data.draw(st.booleans()):
            losses -= 1
            schedule.add(index, *tasks[index])
        else:
            done.append(index)
    assert sorted(done) == list(range(len(tasks)))


@given(tasks=TASKS, cpus=st.integers(1, 6))
def test_nothing_waits_that_would_fit(tasks: list[tuple[int, Resources]], cpus: int) -> None:
    schedule = Schedule(Machine(cpus, MEMORY, GPUS))
    for index, (size, resources) in enumerate(tasks):
        schedule.add(index, size, resources)
    while schedule.take() is not None:
        pass
    running = [g.resources for g in schedule.running.values()]
    for index, (_, wanted) in enumerate(tasks):
        together = [*running, wanted]
        assert index in schedule.running or (
            sum(r.cpus for r in together) > cpus
            or sum(r.mem_bytes for r in together) > MEMORY
            or sum(r.gpus for r in together) > len(GPUS)
        )


def test_large_tasks_go_first_and_small_ones_fill_what_they_leave() -> None:
    schedule = Schedule(Machine(4, MEMORY))
    for index, (size, cpus) in enumerate([(1, 1), (9, 3), (8, 3), (2, 1)]):
        schedule.add(index, size, Resources(cpus))
    assert [grant.index for grant in iter(schedule.take, None) if grant] == [1, 3]


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        (
            Resources(1, 3 << 30),
            "r.yaml:7: resources.mem is more than there is (this machine has 2 GiB): '3 GiB'; write less, or run where "
            "there is as much",
        ),
        (
            Resources(gpus=2),
            "r.yaml:7: resources.gpus is more than there are (this machine shows 1): '2'; write fewer, or run where "
            "there are as many",
        ),
    ],
)
def test_what_can_never_run_is_refused(resources: Resources, told: str) -> None:
    machine = Machine(1, 2 << 30, ("0",))
    machine.refuse([("", Resources(64, 2 << 30, 1))])
    with pytest.raises(UsageError) as raised:
        machine.refuse([("r.yaml:3", Resources()), ("r.yaml:7", resources)])
    assert str(raised.value) == told


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ("", ()),
        ("-1", ()),
        ("0,2", ("0", "2")),
        (" 1 , 0 ", ("1", "0")),
        ("0,-1,2", ("0",)),
        ("0,0", ("0",)),
        ("NoDevFiles", ()),
        ("GPU-8932f937-d72c,MIG-GPU-1/3/0", ("GPU-8932f937-d72c", "MIG-GPU-1/3/0")),
    ],
)
def test_accelerators_as_cuda_sees_them(told: str, names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", told)
    assert visible_gpus() == names == this_machine(3).gpus


def test_accelerators_of_dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpus(tmp_path) == ()
    for name in ("nvidia10", "nvidia2", "nvidia0", "nvidiactl", "nvidia-uvm", "nvidia1x"):
        (tmp_path / name).touch()
    assert visible_gpus(tmp_path) == ("0", "2", "10")


def test_the_memory_of_this_machine_is_at_least_what_this_test_takes() -> None:
    assert 64 << 20 < memory_of_machine() < 1 << 50
    assert this_machine(0).cpus == 1
