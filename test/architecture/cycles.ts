/** The targets of each name of a graph. Names without an entry have none. */
export type Graph = ReadonlyMap<string, readonly string[]>

/** @returns groups of names that reach each other; a graph without cycles has none */
export function findCycles(graph: Graph): string[][] {
  const groups: string[][] = []
  const grouped = new Set<string>()
  const rest = withoutEnds(graph)
  for (const name of rest.keys()) {
    if (grouped.has(name)) continue
    const group = [...reachable(rest, [name])].filter((other) => reachable(rest, rest.get(other) ?? []).has(name))
    if (group.length === 0) continue
    for (const member of group) grouped.add(member)
    groups.push(group.toSorted())
  }
  return groups
}

/** A graph with the same cycles: without names that have no targets, until each name has one. */
function withoutEnds(graph: Graph): Graph {
  const rest = new Map(graph)
  for (let before = -1; rest.size !== before; ) {
    before = rest.size
    for (const [name, targets] of rest) {
      if (!targets.some((target) => rest.has(target))) rest.delete(name)
    }
  }
  return rest
}

/** The names that can be reached from these names, themselves included. */
export function reachable(graph: Graph, from: readonly string[]): Set<string> {
  const found = new Set(from)
  for (const name of found) {
    for (const next of graph.get(name) ?? []) found.add(next)
  }
  return found
}
