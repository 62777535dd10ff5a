/**
 * Patterns for the words that docs/language.md retires. `text` patterns apply everywhere: code, comments, SQL, messages
 * and pages. `name` patterns apply only to the parts of declared names and of file names, because these words have other
 * senses in sentences.
 */
export type Retired = Readonly<{ text: readonly string[]; name: readonly string[] }>

/** Patterns by row of the table in docs/language.md. A key is the first cell of the row up to its first comma. */
export const retired: Readonly<Record<string, Retired>> = {
  house: {
    text: ['houses?', 'composeHouse', 'buildHouse'],
    name: ['house', 'rooms'],
  },
  floor: { text: ['(?<!Math\\.)floors?(?!\\()', 'rooms?', 'laws?'], name: ['floor', 'room', 'law', 'home'] },
  Stopper: { text: ['stoppers?'], name: ['stopper', 'stoppers'] },
  'way (through an intermediary)': {
    text: ['ways? back', 'findWay', 'private ways?', 'private-ways'],
    name: ['way', 'ways'],
  },
  told: { text: ['told', 'untold', 'tellExchange'], name: ['told', 'untold'] },
  'word (of a person or an aggregator)': {
    text: ["person['’]s word", 'broken words?', 'broken promises?', 'askWord'],
    name: [],
  },
  gone: { text: ['gone', 'rescues?', 'rescued'], name: ['gone', 'rescue'] },
  mourn: {
    text: ['mourn(s|ed|ing)?', 'bury', 'buries', 'buried', 'dead', 'deaths?', 'dies?', 'died', 'dying', 'rivals?'],
    name: ['mourn', 'bury', 'dead', 'death', 'deaths', 'die', 'died', 'dying', 'rival', 'rivals'],
  },
  'lost payouts': { text: ['lost payouts?', 'lost payments?', 'noteVanished', 'giveBack'], name: [] },
  attend: {
    text: ['attends?', 'attended', 'revives?', 'revived', 'revivals?'],
    name: ['attend', 'revive', 'revival'],
  },
  'share of queue': { text: ['shares? of the queue', 'share-of-queue'], name: [] },
  'answer once': { text: ['answer once', 'answerOnce', 'SwapDesk', 'desks?', 'kept answers?'], name: ['desk'] },
  cases: { text: ['CaseStore', 'ExchangeCase', 'adrift'], name: ['standing', 'adrift'] },
  custody: { text: ['custody', 'knowsEpoch'], name: ['custody', 'epoch'] },
  'further legs': { text: ['further legs?', 'handedOn', 'handed on', 'isOnward'], name: ['onward'] },
  'tag (of finality)': { text: [], name: [] },
  'coin (an output)': { text: [], name: [] },
  taxed: { text: ['taxed', 'untaxed'], name: ['taxed'] },
  foretold: { text: ['foretold', 'foretell(s|ing)?', 'foresee\\w*'], name: ['foretold', 'ahead'] },
  hubs: { text: ['hubs?'], name: ['hub', 'hubs', 'dollar'] },
  'outside routers': { text: ['outside (routers?|offers?)'], name: ['outside'] },
  spell: { text: ['spell(s|ed|ing|ings)?'], name: ['spell', 'spelling'] },
  want: { text: ['goBack', 'to-head'], name: ['want', 'wants', 'wanted'] },
  'columns (of a search)': { text: ['relieves?', 'relieved', 'by-hops', 'place-uses'], name: ['relieve'] },
  tooMuch: { text: ['tooMuch', 'findTaken'], name: ['tried', 'ease'] },
  arrival: {
    text: ['send-rows', 'by-four', 'byFour', 'single-run', 'singleRun'],
    name: ['arrival', 'forwarded', 'gate', 'nearest', 'extremes', 'distant'],
  },
  spine: {
    text: ['spines?', 'drills?', 'dice', 'worlds?'],
    name: ['spine', 'ground', 'world', 'worlds', 'course', 'courses', 'drill', 'dice', 'shop', 'tour'],
  },
}

/** Phrases from the line below the table. */
export const avoided: readonly string[] = [
  'whoever',
  'whomever',
  'nobody',
  'anew',
  'of which',
  'for whom',
  'by itself',
  'there is none',
]

/** Allows a word in some files: a published name, a term of the field, or a name from another project. */
export type Exception = Readonly<{ word: RegExp; files: RegExp; reason: string }>

export const exceptions: readonly Exception[] = [
  { word: /gone/, files: /^schema\/src\/openapi-responses\.ts$/, reason: 'the reason phrase of HTTP 410' },
  {
    word: /.*/,
    files: /^(docs\/language\.md|test\/language\/.*|test\/language\.test\.ts)$/,
    reason: 'the list itself',
  },
  {
    word: /told/,
    files:
      /^(server\/src\/adapters\/postgres\/(swap\/swaps|admin\/lists)\.ts|server\/migrations\/000(8_swaps|9_events)\.sql|server\/test\/events\/recorded-events\.test\.ts|docs\/(database|decisions\/0067[^/]*)\.md)$/,
    reason: 'column swaps.told',
  },
  {
    word: /hubs/,
    files:
      /^(sandbox\/|docs\/guides\/sandbox\.md|docs\/pools\.md|server\/src\/app\/(router|sandbox-chains)\.ts|(server\/)?test\/)/,
    reason: 'field of chains.json',
  },
  { word: /epoch/, files: /^server\/test\/swap\/families\//, reason: 'the period after which a transaction expires' },
  { word: /epoch/, files: /^sandbox\/src\/sui\//, reason: 'the epochs of Sui' },
  { word: /epoch/, files: /^(sandbox|server\/src\/adapters)\/(src\/)?solana\//, reason: 'the epochs of Solana' },
  { word: /hub/, files: /^sandbox\/src\/keys\.ts$/, reason: 'a word of the published sandbox mnemonic' },
  {
    word: /dead/,
    files: /^server\/(test\/core\/http\/|src\/adapters\/chains\/evm\/address\.test\.ts)/,
    reason: 'the burn address 0x…dEaD',
  },
  {
    word: /rescue/,
    files: /^(contracts\/test\/|docs\/threat-model\.md)/,
    reason: 'the selector of a function that must not exist',
  },
  {
    word: /buried/,
    files: /^sandbox\/src\/bitcoin\/core-methods\.ts$/,
    reason: 'a value of Bitcoin Core’s getblockchaininfo',
  },
  { word: /die/, files: /^server\/src\/pages\/tracking\/languages\/de\.ts$/, reason: 'a German article' },
  { word: /nobody/, files: /^server\/src\/adapters\/embedded-postgres\/owner\.ts$/, reason: 'a system user’s name' },
]
