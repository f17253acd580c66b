"""What is the same in every turn of a loop is computed before it.

Of the body of a loop those equations are moved out that depend only on what the loop does not change: geometry and
material of the arms, the loads of a step. Inner loops come first, so that equations go out as far as they can.
"""

from hydrostat.native.program import Block, Const, Eqn, Var

# Saying in another way where numbers are, or repeating them, is no computation: it goes along with one.
_FREE = frozenset(("slice", "squeeze", "transpose", "expand_dims", "rev", "broadcast_in_dim", "iota"))


def hoisted(block: Block) -> Block:
    """The block with equations moved out of its loops."""
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        before, rest = _hoisted(eqn)
        eqns += [*before, rest]
    return Block(block.inputs, eqns, block.outputs)


def split(block: Block, fixed: int) -> tuple[list[Eqn], Block]:
    """The equations that depend on a number of first inputs only, and the block of all others."""
    known = {id(var) for var in block.inputs[:fixed]}
    early, late = _parted(block.eqns, known)
    return early, Block(block.inputs, late, block.outputs)


def _hoisted(eqn: Eqn) -> tuple[list[Eqn], Eqn]:
    """What of an equation's blocks is done before it, and the equation without that."""
    if not eqn.blocks:
        return [], eqn
    blocks = [hoisted(block) for block in eqn.blocks]
    if eqn.name == "scan":
        first = eqn.params["num_consts"]
        body, early, new = _out_of(blocks[0], range(first), eqn.inputs[:first], first)
        params = {**eqn.params, "num_consts": first + len(new)}
        inputs = [*eqn.inputs[:first], *new, *eqn.inputs[first:]]
        return early, Eqn("scan", inputs, eqn.outputs, params, [body])
    if eqn.name == "while":
        nt, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        body, early, new = _out_of(blocks[1], range(nb), eqn.inputs[nt : nt + nb], nb)
        params = {**eqn.params, "body_nconsts": nb + len(new)}
        inputs = [*eqn.inputs[: nt + nb], *new, *eqn.inputs[nt + nb :]]
        return early, Eqn("while", inputs, eqn.outputs, params, [blocks[0], body])
    return [], Eqn(eqn.name, eqn.inputs, eqn.outputs, eqn.params, blocks)


def _out_of(body: Block, which: range, atoms: list, place: int) -> tuple[Block, list[Eqn], list[Var]]:
    """A body without what does not change, the equations of that, and what they hand to the body."""
    known = {id(body.inputs[i]) for i in which}
    early, late = _parted(body.eqns, known)
    if not early:
        return body, [], []
    # In the block around, the inputs have other names.
    names = {id(body.inputs[i]): atom for i, atom in zip(which, atoms, strict=True)}
    made = {id(var): var for eqn in early for var in eqn.outputs}
    moved = []
    for eqn in early:
        inputs = [names.get(id(atom), atom) for atom in eqn.inputs]
        moved.append(Eqn(eqn.name, inputs, eqn.outputs, eqn.params, eqn.blocks))
    needed = {id(atom): None for eqn in late for atom in eqn.inputs} | {id(atom): None for atom in body.outputs}
    handed = [made[key] for key in needed if key in made]
    # Within the body they are inputs, with names of their own.
    inner = {id(var): Var(var.shape, var.dtype) for var in handed}
    rest = [Eqn(eqn.name, [inner.get(id(atom), atom) for atom in eqn.inputs], eqn.outputs, eqn.params, eqn.blocks)
            for eqn in late]  # fmt: skip
    inputs = [*body.inputs[:place], *inner.values(), *body.inputs[place:]]
    outputs = [inner.get(id(atom), atom) for atom in body.outputs]
    return Block(inputs, rest, outputs), moved, handed


def _parted(eqns: list[Eqn], known: set[int]) -> tuple[list[Eqn], list[Eqn]]:
    """Equations that depend on what is known and compute something, with what they need; and all others."""
    known = set(known)
    same = []
    for eqn in eqns:
        if all(isinstance(atom, Const) or id(atom) in known for atom in eqn.inputs):
            known.update(id(var) for var in eqn.outputs)
            same.append(eqn)
    needed: set[int] = set()
    chosen = set()
    for eqn in reversed(same):
        computes = eqn.name not in _FREE and any(not isinstance(atom, Const) for atom in eqn.inputs)
        if computes or any(id(var) in needed for var in eqn.outputs):
            chosen.add(id(eqn))
            needed.update(id(atom) for atom in eqn.inputs)
    early = [eqn for eqn in same if id(eqn) in chosen]
    # A view goes along, and stays as well where others use it: it costs nothing.
    computed = {id(eqn) for eqn in early if eqn.name not in _FREE}
    late, renamed = [], {}
    for eqn in eqns:
        if id(eqn) in computed:
            continue
        if id(eqn) in chosen:
            copies = [Var(var.shape, var.dtype) for var in eqn.outputs]
            late.append(Eqn(eqn.name, [renamed.get(id(a), a) for a in eqn.inputs], copies, eqn.params, eqn.blocks))
            renamed.update((id(var), copy) for var, copy in zip(eqn.outputs, copies, strict=True))
        else:
            late.append(Eqn(eqn.name, [renamed.get(id(a), a) for a in eqn.inputs], eqn.outputs, eqn.params, eqn.blocks))
    return early, _used(late, eqns, renamed)


def _used(late: list[Eqn], eqns: list[Eqn], renamed: dict) -> list[Eqn]:
    """Without copies of views that nobody reads."""
    copies = {id(copy) for copy in renamed.values()}
    needed: set[int] = set()
    kept = []
    for eqn in reversed(late):
        if any(id(var) in copies for var in eqn.outputs) and not any(id(var) in needed for var in eqn.outputs):
            continue
        needed.update(id(atom) for atom in eqn.inputs)
        kept.append(eqn)
    return kept[::-1]
