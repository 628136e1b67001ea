/** How models split texts into tokens. */
export type Vocabulary = 'o200k' | 'cl100k'

/**
 * Counts tokens with a vocabulary, away from the thread that serves requests: a vocabulary takes much memory, and counting much time. Passed
 * in by the caller of the engine.
 */
export interface TokenCounter {
  /**
   * @param texts in all at most 200,000 characters, each at most 1,000
   * @returns the sum; undefined, at once or later: it could not be counted in time
   */
  count(vocabulary: Vocabulary, texts: readonly string[]): Promise<number | undefined> | undefined
}

/** For commands that serve no clients: they load no vocabulary. */
export const NO_COUNTER: TokenCounter = { count: () => undefined }
