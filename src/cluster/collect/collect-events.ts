import { type ClusterReader, listIn } from '../examine/cluster-reader.ts'
import { type Members, membersOf } from '../kubeconfig.ts'
import { redactObject } from './redact-object.ts'
import type { SupportFiles } from './support-files.ts'

/** Adds the events about certain objects. @param keys `Kind/namespace/name` @param namespaces none: all */
export async function collectEvents(
  reader: ClusterReader,
  files: SupportFiles,
  { keys, namespaces }: { readonly keys: ReadonlySet<string>; readonly namespaces: readonly string[] },
): Promise<void> {
  const reading = await listIn(reader, namespaces, (namespace) =>
    namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
  )
  if ('why' in reading) return files.miss('events', reading.why)
  const found = (reading.value ?? []).filter(({ involvedObject }) => keys.has(keyOf(membersOf(involvedObject))))
  if (found.length > 0) files.addYaml('events.yaml', found.map(redactObject))
}

function keyOf({ kind, namespace = '', name }: Members): string {
  return `${kind}/${namespace}/${name}`
}
