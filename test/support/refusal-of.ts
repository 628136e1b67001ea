import type { TestGateway } from './gateway.ts'

/** Status, body and stable code of a refusal. */
export async function refusalOf(gateway: TestGateway, response: Response): Promise<unknown[]> {
  const id = response.headers.get('gatewright-decision')
  const records = (await (await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)).json()) as { code?: string }[]
  return [response.status, await response.text(), records[0]?.code]
}
