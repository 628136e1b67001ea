import type { TestGateway } from './gateway.ts'

/** What the guards of a gateway hold back and wait for, by its metrics. */
export interface GuardGauges {
  readonly heldBytes: number
  readonly windows: number
}

export async function readGauges(gateway: TestGateway): Promise<GuardGauges> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  const gauge = (name: string) => Number(new RegExp(`^gatewright_guardrail_${name} (\\d+)$`, 'm').exec(text)?.[1])
  return { heldBytes: gauge('held_bytes'), windows: gauge('windows_in_flight') }
}
