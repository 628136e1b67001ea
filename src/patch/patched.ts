/** What a patch makes of a document, or why it does not apply. Documents are never changed; the result may share parts with them. */
export type Patched<T> =
  | { readonly value: T; readonly failure?: never }
  | { readonly value?: never; readonly failure: PatchFailure }

/** Why a patch does not apply, for a `Status` object. */
export interface PatchFailure {
  /** `BadRequest`: it is not a patch. `Invalid`: it does not fit the document. */
  readonly reason: 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge'
  readonly message: string
}

/** Thrown inside of a patch, which is given up; the exported functions return it as `failure`. */
export class PatchError extends Error {
  override readonly name = 'PatchError'
  readonly reason: PatchFailure['reason']

  constructor(reason: PatchFailure['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Runs the steps of a patch. */
export function patched<T>(steps: () => T): Patched<T> {
  try {
    return { value: steps() }
  } catch (error) {
    if (error instanceof PatchError) return { failure: { reason: error.reason, message: error.message } }
    throw error
  }
}
