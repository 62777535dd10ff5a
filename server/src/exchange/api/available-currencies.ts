import { routes } from '@swapyard/schema'
import type { Currency } from '../../core/domain/currency.ts'
import { sendTagged, weakEtag } from '../../core/http/etag.ts'
import { type ApiContext, mount } from '../../core/http/mount.ts'
import { serializeAnswer } from '../../core/http/serialize.ts'
import type { ExchangeServices } from '../interfaces.ts'
import { presentCurrency } from './present.ts'

/** Renders the body once per list: the service returns the same array until something changes. */
export function mountAvailableCurrencies(context: ApiContext<ExchangeServices>): void {
  const { services, settings } = context
  let rendered: { currencies: readonly Currency[]; body: string; etag: string } | null = null
  mount(context, routes.listCurrencies, (request, reply) => {
    const currencies = services.listCurrencies()
    if (rendered?.currencies !== currencies) {
      const body = serializeAnswer(
        reply,
        currencies.map((currency) => presentCurrency(currency, settings.publicUrl)),
      )
      rendered = { currencies, body, etag: weakEtag(body) }
    }
    return sendTagged(request, reply, rendered.body, rendered.etag)
  })
}
