/** Asks for any JSON object, of a provider that takes only schemas that name all members. */
export const JSON_ONLY = 'Answer with one JSON object and nothing else.'
