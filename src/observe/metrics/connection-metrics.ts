import { bindOf } from '#exchange/bind-of.ts'
import type { IncomingConnection } from '../observer.ts'
import { unknownIfEmpty } from './labels.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Counts a closed connection and its bytes. */
export function countConnection(
  writer: MetricsWriter,
  connection: IncomingConnection,
  receivedBytes: number,
  sentBytes: number,
): void {
  const labels = labelsOf(connection)
  writer.series('connections', labels).add(1)
  if (receivedBytes > 0) writer.series('receivedBytes', labels).add(receivedBytes)
  if (sentBytes > 0) writer.series('sentBytes', labels).add(sentBytes)
}

export function observeHandshake(writer: MetricsWriter, connection: IncomingConnection, durationMs: number): void {
  writer.series('handshakes', labelsOf(connection)).observe(durationMs / 1000)
}

function labelsOf({ peer, gateway, listener, protocol }: IncomingConnection): string[] {
  return [bindOf(peer), unknownIfEmpty(gateway), unknownIfEmpty(listener), protocol]
}
