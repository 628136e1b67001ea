/** Has the password of the administrator of the identity provider. */
export const ADMIN_PASSWORD_VARIABLE = 'GATEWRIGHT_IDP_ADMIN_PASSWORD'
