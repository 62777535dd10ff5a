import { type PartnerFeesQuery, routes } from '@swapyard/schema'
import { formatPercent } from '../domain/percent.ts'
import type { PartnerAccount } from '../services/partner-account.ts'
import { csvLine, isCsvRequest, setCsvHeaders } from './csv.ts'
import { type ApiContext, callerOf, mount } from './mount.ts'

const PPM_OF_BPS = 100
const balanceColumns = ['currency', 'network', 'amount'] as const
const columns = ['date', 'currency', 'network', 'kind', 'credited', 'debited', 'count'] as const

/** What a partner reads about itself: balances, fees, limits. */
export function mountPartner(context: ApiContext<{ partnerAccount: PartnerAccount }>): void {
  const { services, settings } = context
  const { partnerAccount } = services
  mount(context, routes.getPartnerBalances, async (request, reply) => {
    const { partner } = callerOf(request)
    if (isCsvRequest(request))
      return setCsvHeaders(reply, 'balances').send(toCsv(balanceColumns, await partnerAccount.balances(partner)))
    reply.headers({ 'cache-control': 'no-store', vary: 'Accept' })
    const [data, monthlyPayouts] = await Promise.all([
      partnerAccount.balances(partner),
      partnerAccount.monthlyPayouts(partner),
    ])
    return { data, monthlyPayouts }
  })
  mount(context, routes.getPartnerFees, async (request, reply) => {
    const { from, to } = request.query as PartnerFeesQuery
    const data = await partnerAccount.statement(callerOf(request).partner, from, to)
    if (isCsvRequest(request)) return setCsvHeaders(reply, `fees-${from}-${to}`).send(toCsv(columns, data))
    reply.headers({ 'cache-control': 'no-store', vary: 'Accept' })
    return { from, to, data }
  })
  mount(context, routes.getPartnerUsage, async (request, reply) => {
    const { partner, keyId, scopes } = callerOf(request)
    const budget = settings.throttle?.take(partner.id, 0, partner.rateLimitPerMinute) ?? null
    reply.header('cache-control', 'no-store')
    return {
      keyId,
      scopes: [...scopes],
      requestsPerMinute: partner.rateLimitPerMinute,
      requestsLeft: budget?.remaining ?? null,
      resetSeconds: budget?.resetSeconds ?? null,
      openExchanges: await partnerAccount.countOpenExchanges(partner),
      openExchangesMax: partner.openExchangesMax,
      feePercent: formatPercent(partner.feeBps * PPM_OF_BPS),
      strict: partner.strict,
    }
  })
}

const toCsv = <Column extends string>(
  names: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number>>[],
): string => [csvLine(names), ...rows.map((row) => csvLine(names.map((name) => row[name])))].join('')
