/** The targets of each name of a graph. Names without an entry have none. */
export type Graph = ReadonlyMap<string, readonly string[]>

/** @returns groups of names that reach each other; a graph without cycles has none */
export function findCycles(graph: Graph): string[][] {
  const groups: string[][] = []
  const grouped = new Set<string>()
  for (const name of graph.keys()) {
    if (grouped.has(name)) continue
    const group = [...reachable(graph, [name])].filter((other) => reachable(graph, graph.get(other) ?? []).has(name))
    if (group.length === 0) continue
    for (const member of group) grouped.add(member)
    groups.push(group.toSorted())
  }
  return groups
}

/** The names that can be reached from these names, themselves included. */
export function reachable(graph: Graph, from: readonly string[]): Set<string> {
  const found = new Set(from)
  for (const name of found) {
    for (const next of graph.get(name) ?? []) found.add(next)
  }
  return found
}
