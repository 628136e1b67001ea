/**
 * Models whose vendor has announced an end, by date; dated versions end with them. From the pages about deprecations of the OpenAI API and of the Claude API,
 * as of November 2026. Models that have ended stay in the list.
 */
export const MODEL_END_DATES: Readonly<Record<string, readonly string[]>> = {
  '2026-10-23': [
    ...['gpt-3.5-turbo', 'gpt-4', 'gpt-4-turbo', 'gpt-4-1106-preview', 'gpt-4.1-nano'],
    ...['o1', 'o1-pro', 'o3-mini', 'o4-mini'],
  ],
  '2026-11-30': ['claude-sonnet-4-5'],
  '2026-12-11': ['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5-pro', 'o3', 'o3-pro'],
  '2027-01-14': ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini'],
  '2027-01-22': ['claude-opus-4-5'],
  '2027-04-01': ['gpt-5.1', 'gpt-5.3-codex', 'gpt-5.4-nano'],
  ended: [
    ...[
      'claude-mythos-preview',
      'claude-opus-4-1',
      'claude-opus-4',
      'claude-opus-4-0',
      'claude-sonnet-4',
      'claude-sonnet-4-0',
    ],
    ...[
      'claude-3-7-sonnet',
      'claude-3-5-sonnet',
      'claude-3-5-haiku',
      'claude-3-opus',
      'claude-3-sonnet',
      'claude-3-haiku',
    ],
  ],
}
