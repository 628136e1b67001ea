import { eventually } from './eventually.ts'
import type { TestGateway } from './gateway.ts'

/** Status, body and stable code of a refusal. */
export async function refusalOf(gateway: TestGateway, response: Response): Promise<unknown[]> {
  const id = response.headers.get('gatewright-decision')
  const text = await response.text()
  const record = await eventually('the record', async () => {
    const records = await (await fetch(`${gateway.url(15_000)}/decisions?id=${id}`)).json()
    return (records as { code?: string }[])[0]
  })
  return [response.status, text, record.code]
}
