import { parseNetwork } from '#net/connect/forward-rules.ts'
import { UsageError } from './usage-error.ts'

/** Options for destinations that others than the operator choose. */
export interface ForwardFlags {
  readonly allowForwardTo?: readonly string[]
  readonly allowExternalName?: true
}

/** The networks of `--allow-forward-to`, as text. @throws UsageError */
export function forwardNetworks({ allowForwardTo = [] }: ForwardFlags): readonly string[] {
  const networks = allowForwardTo.flatMap((text) => text.split(',')).map((text) => text.trim())
  const wrong = networks.find((text) => parseNetwork(text) === undefined)
  if (wrong === undefined) return networks
  throw new UsageError(`--allow-forward-to ${wrong} is not a network or an IP address, such as 127.0.0.0/8`)
}
