import type { createPartnerStore } from '../adapters/postgres/core/partners.ts'
import { findCurrency, findNetwork } from './lookup.ts'
import { fail } from './print.ts'

type PartnerList = Pick<ReturnType<typeof createPartnerStore>, 'list'>

/** The scope in the form that signing looks up. Partners are found by name or id. */
export async function readScope(text: string, partners: PartnerList): Promise<string> {
  if (text === 'all' || text === 'payouts:all') return text
  const [, kind, name = ''] = /^(network|payouts|asset|partner):(.+)$/s.exec(text) ?? []
  if (kind === 'network' || kind === 'payouts') return `${kind}:${findNetwork(name)}`
  if (kind === 'asset') return `asset:${findCurrency(name)}`
  if (kind === 'partner') return `partner:${await partnerId(name, partners)}`
  fail('the scope is all, network:…, payouts:…, asset:… or partner:…')
}

async function partnerId(name: string, partners: PartnerList): Promise<string> {
  const partner = (await partners.list()).find((one) => one.id === name || one.name === name)
  return partner?.id ?? fail(`there is no partner ${name}; \`swapyard partners list\` lists them`)
}
