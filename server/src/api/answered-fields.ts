import type { Caller } from '../domain/partner.ts'

/** What the line of an answered request says. Neither query nor headers: a key may stand there. */
export function answeredFields(answered: {
  requestId: string
  method: string
  path: string
  status: number
  elapsedMs: number
  ip: string
  caller: Caller | null
}) {
  const { requestId, method, path, status, elapsedMs, ip, caller } = answered
  return {
    requestId,
    method,
    path,
    status,
    elapsedMs: Math.round(elapsedMs * 100) / 100,
    ip,
    partnerId: caller?.partner.id,
    keyId: caller?.keyId,
  }
}
