import { API_KEY } from './client.ts'

/** The same as a command, for those who prefer a terminal. */
export function FirstCall() {
  const path = '/v1/cross-chain/rate?fromCurrency=btc&fromNetwork=btc&toCurrency=eth&toNetwork=eth&amount=0.01'
  return (
    <details className="first-call">
      <summary>The first call in a terminal</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{`curl -H 'x-api-key: ${API_KEY}' \\\n  '${location.origin}${path}'`}</pre>
      <p>
        It asks what 0.01 bitcoin would pay in ether.{' '}
        <a href="/docs/first-exchange">The first exchange in five minutes</a> continues from here; the{' '}
        <a href="/openapi.json">OpenAPI document</a> and a <a href="/docs/postman.json">Postman collection</a> describe
        every call.
      </p>
    </details>
  )
}
