import { currencies } from '../../currencies/index.ts'
import type { OutflowLimits } from '../adapters/signers/outflow.ts'
import { parseUnits } from '../core/domain/amount.ts'
import { type Asset, type AssetId, assetId } from '../core/domain/asset.ts'
import { toAsset } from '../core/domain/currency.ts'
import { AppError } from '../core/domain/errors.ts'
import { present } from '../lib/assert.ts'

/** By asset, in whole coins as decimal text. */
export type SignerLimits = ReadonlyMap<string, Readonly<Record<'transaction' | 'hour' | 'day', string>>>

const MEMBERS = ['transaction', 'hour', 'day'] as const

/** The limits of the settings, in units of the listed assets. */
export function toOutflowLimits(limits: SignerLimits): OutflowLimits {
  const entries = [...limits].map(([id, limit]) => {
    const asset = assetOf(id)
    const units = (member: (typeof MEMBERS)[number]) => parseUnits(limit[member], asset, nameOf(id, member))
    return [asset.id, { transaction: units('transaction'), hour: units('hour'), day: units('day') }] as const
  })
  return new Map<AssetId, (typeof entries)[number][1]>(entries)
}

/** Limits that are no amounts of their asset. */
export function findWrongLimits(source: string, limits: SignerLimits): string[] {
  return [...limits].flatMap(([id, limit]) =>
    MEMBERS.flatMap((member) => {
      try {
        parseUnits(limit[member], assetOf(id), nameOf(id, member))
        return []
      } catch (error) {
        if (error instanceof AppError) return [`${source}: ${error.message}`]
        throw error
      }
    }),
  )
}

const nameOf = (id: string, member: string) => `signer.limits.${id}.${member}`

/** The schema of the file refuses currencies that are not listed. */
function assetOf(id: string): Asset {
  const listed = present(
    currencies.find(({ ticker, network }) => assetId(ticker, network) === id),
    `the listed currency ${id}`,
  )
  return toAsset(listed, listed.contract)
}
