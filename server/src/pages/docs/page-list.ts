export type DocPage = Readonly<{
  path: string
  /** Markdown file, relative to the root of the repository. */
  file: string
  /** In the list of pages. */
  label: string
  /** Replaces the heading of the file. */
  title?: string
}>

export type DocGroup = Readonly<{ name: string; pages: readonly DocPage[] }>

export const START_PATH = '/docs'
export const REFERENCE_PATH = '/docs/reference'
export const OPENAPI_PATH = '/openapi.json'
export const POSTMAN_PATH = '/docs/postman.json'
/** The client library, packed. */
export const SDK_PATH = '/docs/swapyard-sdk.tgz'

/** The pages in the order of the navigation. To add one, add its file and a line here. */
export const docGroups: readonly DocGroup[] = [
  {
    name: 'Start',
    pages: [
      { path: START_PATH, file: 'docs/partners/start.md', label: 'Overview' },
      { path: '/docs/first-exchange', file: 'docs/partners/first-exchange.md', label: 'First exchange' },
      { path: '/docs/sdk', file: 'sdk/README.md', label: 'Client library', title: 'Client library' },
    ],
  },
  {
    name: 'Exchanges',
    pages: [
      { path: '/docs/fixed-rates', file: 'docs/partners/fixed-rates.md', label: 'Fixed rates and guards' },
      { path: '/docs/refunds', file: 'docs/partners/refunds.md', label: 'Refunds' },
      { path: '/docs/private-exchanges', file: 'docs/partners/private-exchanges.md', label: 'Private exchanges' },
      { path: '/docs/statuses', file: 'docs/partners/statuses.md', label: 'Statuses and reasons' },
    ],
  },
  { name: 'Swaps', pages: [{ path: '/docs/swaps', file: 'docs/guides/swap.md', label: 'Swaps' }] },
  {
    name: 'Integration',
    pages: [
      { path: '/docs/widget', file: 'docs/partners/widget.md', label: 'Widget' },
      { path: '/docs/webhooks', file: 'docs/partners/webhooks.md', label: 'Webhooks' },
      { path: '/docs/errors', file: 'docs/errors.md', label: 'Errors' },
      { path: '/docs/going-live', file: 'docs/partners/going-live.md', label: 'Going live' },
    ],
  },
  {
    name: 'Policies',
    pages: [
      { path: '/docs/lifecycle', file: 'docs/lifecycle.md', label: 'Exchange lifecycle' },
      {
        path: '/docs/privacy',
        file: 'docs/private-exchanges.md',
        label: 'What a private exchange hides',
        title: 'What a private exchange hides',
      },
      { path: '/docs/changelog', file: 'CHANGELOG.md', label: 'Changelog' },
    ],
  },
]

export const docPages: readonly DocPage[] = docGroups.flatMap(({ pages }) => pages)

/** Links below the pages. */
export const referenceLinks = [
  { path: REFERENCE_PATH, label: 'API reference' },
  { path: OPENAPI_PATH, label: 'OpenAPI document' },
  { path: POSTMAN_PATH, label: 'Postman collection' },
] as const
