/** Response header with the purpose of a server for operators, so that commands notice a wrong address. */
export const SERVER_FIELD = 'gatewright-server'
/** The purpose of the admin server. */
export const ADMIN = 'admin'
