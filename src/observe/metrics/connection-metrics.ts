import { bindOf } from '#exchange/bind-of.ts'
import type { IncomingConnection } from '../observer.ts'
import { unknownIfEmpty } from './labels.ts'
import type { MetricsWriter } from './metrics-writer.ts'

/** Counts a closed connection and its bytes. */
export function countConnection(
  writer: MetricsWriter,
  place: IncomingConnection,
  receivedBytes: number,
  sentBytes: number,
): void {
  const labels = labelsOf(place)
  writer.series('connections', labels).add(1)
  if (receivedBytes > 0) writer.series('receivedBytes', labels).add(receivedBytes)
  if (sentBytes > 0) writer.series('sentBytes', labels).add(sentBytes)
}

export function observeHandshake(writer: MetricsWriter, place: IncomingConnection, durationMs: number): void {
  writer.series('handshakes', labelsOf(place)).observe(durationMs / 1000)
}

function labelsOf({ peer, gateway, listener, protocol }: IncomingConnection): string[] {
  return [bindOf(peer), unknownIfEmpty(gateway), unknownIfEmpty(listener), protocol]
}
