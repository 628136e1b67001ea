import type { Answer, Connection, Fault, Question } from './client.ts'

/** What a scenario gets besides the connection. */
export interface Circumstances {
  /** Names of classes of errors by status. */
  readonly errors: Readonly<Record<string, string>>
  /** Whether the provider has noticed that the client left. */
  hasLeft(): Promise<boolean>
  /** The same client with the other upstreams. */
  readonly others: readonly { readonly name: string; readonly connection: Connection }[]
  /** Whether thoughts come back. */
  readonly keepsThoughts: boolean
}

export type Scenario = (connection: Connection, circumstances: Circumstances) => Promise<void>

export const never = () => {}
export type Ask = (question: Question) => Promise<Answer>
export const whole = (connection: Connection): Ask => connection.ask
export const streamed =
  (connection: Connection): Ask =>
  (question) =>
    connection.stream(question, never)
export const both =
  (check: (ask: Ask) => Promise<void>) =>
  async (connection: Connection): Promise<void> => {
    await check(whole(connection))
    await check(streamed(connection))
  }

/** The failure of a question, as the client shows it. */
export async function failure(connection: Connection, asked: Promise<Answer>): Promise<Fault> {
  const [answer, error] = await asked.then(
    (value) => [value, undefined],
    (reason: unknown) => [undefined, reason],
  )
  if (answer !== undefined) throw new Error(`no failure but ${JSON.stringify({ ...answer, history: undefined })}`)
  const fault = connection.faultOf(error)
  if (fault === undefined) throw error
  return fault
}
