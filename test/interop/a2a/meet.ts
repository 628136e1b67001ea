import type { A2aGateway } from './a2a-gateway.ts'
import {
  type Binding,
  type Meeting,
  type Outcomes,
  type PairAgent,
  type PairClient,
  SCENARIOS,
  type Scenario,
  type Version,
} from './scenarios.ts'

/** A meeting of a client and an agent over one interface, without the gateway and through it. */
export interface Met {
  readonly name: string
  readonly direct: Outcomes
  readonly through: Outcomes
}

/** The scenarios that work only without the gateway. */
export function worseIn({ direct, through }: Met): readonly Scenario[] {
  return SCENARIOS.filter((scenario) => direct[scenario] === 'ok' && through[scenario] !== 'ok')
}

/** The interfaces that both have. */
export function commonInterfaces(client: PairClient, agent: PairAgent): readonly string[] {
  return agent.interfaces.filter((each) => client.interfaces.includes(each))
}

/** Lets a client meet an agent over one interface. */
export async function meet(client: PairClient, agent: PairAgent, over: string, { agents }: A2aGateway): Promise<Met> {
  const place = agents[agent.name]!
  const [binding, version] = over.split('-') as [Binding, Version]
  const at = (url: string, grpc?: string): Meeting => ({ url: `${url}/${over}`, binding, version, grpc })
  const [direct, through] = await Promise.all([
    client.run(at(`http://127.0.0.1:${agent.port}`)),
    client.run(at(place.url, binding === 'grpc' ? place.grpc : undefined)),
  ])
  return { name: `${client.name} with ${agent.name}, ${binding} ${version}`, direct, through }
}
