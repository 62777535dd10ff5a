import type { Caller } from '../domain/partner.ts'

/** Of the requests of one caller to one route, what stays the same. */
type Kind = Readonly<{ method: string; path: string; status: number; ip: string; caller: Caller | null }>
type One = Readonly<{ requestId: string; elapsedMs: number }>

/** What the line of an answered request says. Neither query nor headers: a key may stand there. */
export const answeredFields = (answered: One & Kind) => ({ ...oneAnswered(answered), ...kindAnswered(answered) })

export const oneAnswered = ({ requestId, elapsedMs }: One) => ({
  requestId,
  elapsedMs: Math.round(elapsedMs * 100) / 100,
})

export const kindAnswered = ({ method, path, status, ip, caller }: Kind) => ({
  method,
  path,
  status,
  ip,
  partnerId: caller?.partner.id,
  keyId: caller?.keyId,
})
