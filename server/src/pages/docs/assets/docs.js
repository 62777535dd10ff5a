/** Tabs, copy buttons and search of the documentation. Every page is complete without them. */

const LANGUAGE = 'swapyard-docs-language'
const MINISEARCH = './minisearch.js'
const QUERY_LENGTH_MAX = 100
const RESULTS_MAX = 12
/** As the server builds the index. */
const INDEX_OPTIONS = { idField: 'url', fields: ['title', 'page', 'text'], storeFields: ['title', 'page', 'excerpt'] }

function element(name, properties = {}, ...children) {
  const { role, ...others } = properties
  const made = Object.assign(document.createElement(name), others)
  if (role !== undefined) made.setAttribute('role', role)
  made.append(...children)
  return made
}

/** Storage may be refused. */
function readLanguage() {
  try {
    return localStorage.getItem(LANGUAGE)
  } catch {
    return null
  }
}

function storeLanguage(language) {
  try {
    localStorage.setItem(LANGUAGE, language)
  } catch {
    // The choice then holds for this page only.
  }
}

function addTabs(samples, number) {
  const blocks = [...samples.querySelectorAll('.code')]
  const tabs = blocks.map((block, at) => {
    const caption = block.querySelector('.language')
    const tab = element('button', { type: 'button', role: 'tab', id: `tab-${number}-${at}` }, caption.textContent)
    block.id = `panel-${number}-${at}`
    block.setAttribute('role', 'tabpanel')
    block.setAttribute('aria-labelledby', tab.id)
    tab.setAttribute('aria-controls', block.id)
    tab.dataset.language = block.dataset.language
    tab.addEventListener('click', () => chooseLanguage(tab.dataset.language))
    return tab
  })
  const list = element('div', { className: 'tabs', role: 'tablist' }, ...tabs)
  list.setAttribute('aria-label', 'Language')
  list.addEventListener('keydown', (event) => {
    const at = tabs.indexOf(document.activeElement)
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    const tab = tabs[(next + tabs.length) % tabs.length]
    chooseLanguage(tab.dataset.language)
    tab.focus()
  })
  samples.classList.add('tabbed')
  samples.prepend(list)
}

/** Shows one language in every sample of the page, and on later pages. The sample in view stays where it is. */
function chooseLanguage(language) {
  const before = document.activeElement?.getBoundingClientRect().top
  for (const samples of document.querySelectorAll('.samples')) {
    for (const tab of samples.querySelectorAll('[role=tab]')) {
      const isChosen = tab.dataset.language === language
      tab.setAttribute('aria-selected', String(isChosen))
      tab.tabIndex = isChosen ? 0 : -1
    }
    for (const block of samples.querySelectorAll('.code')) block.hidden = block.dataset.language !== language
  }
  const after = document.activeElement?.getBoundingClientRect().top
  if (before !== undefined && after !== undefined) scrollBy(0, after - before)
  storeLanguage(language)
}

function addCopyButton(block) {
  const button = element('button', { type: 'button', className: 'copy' }, 'Copy')
  // The name of the button stays, so a screen reader hears the result here.
  const status = element('span', { className: 'unseen', role: 'status' })
  button.setAttribute('aria-label', 'Copy the code')
  button.addEventListener('click', async () => {
    const isCopied = await copy(block.querySelector('code').textContent)
    status.textContent = button.textContent = isCopied ? 'Copied' : 'Not copied'
    setTimeout(() => {
      button.textContent = 'Copy'
      status.textContent = ''
    }, 2_000)
  })
  block.append(button, status)
}

/** The clipboard exists on HTTPS and on loopback. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

let loading = null

function loadIndex() {
  loading ??= Promise.all([import(MINISEARCH), fetch('/docs/search.json').then((answer) => answer.text())]).then(
    ([{ default: MiniSearch }, text]) => MiniSearch.loadJSON(text, INDEX_OPTIONS),
  )
  return loading
}

async function find(query) {
  const index = await loadIndex()
  return index
    .search(query.slice(0, QUERY_LENGTH_MAX), {
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boost: { title: 4, page: 2 },
    })
    .slice(0, RESULTS_MAX)
}

function addSearch(place) {
  const input = element('input', {
    type: 'search',
    id: 'search',
    role: 'combobox',
    placeholder: 'Search  /',
    maxLength: QUERY_LENGTH_MAX,
    autocomplete: 'off',
    spellcheck: false,
  })
  const list = element('ul', { id: 'results', role: 'listbox', hidden: true })
  const count = element('p', { className: 'unseen', role: 'status' })
  for (const [name, value] of Object.entries({
    'aria-label': 'Search the documentation',
    'aria-controls': 'results',
    'aria-expanded': 'false',
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value)
  list.setAttribute('aria-label', 'Results')
  place.append(input, list, count)
  place.hidden = false

  let shown = []
  let selected = -1

  function close() {
    list.hidden = true
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
    shown = []
    selected = -1
  }

  function select(at) {
    selected = at
    for (const [number, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(number === at))
    input.setAttribute('aria-activedescendant', `result-${at}`)
    list.children[at]?.scrollIntoView({ block: 'nearest' })
  }

  function show(results) {
    shown = results
    count.textContent = results.length === 1 ? '1 result' : `${results.length} results`
    list.replaceChildren(...results.map(toItem))
    if (results.length === 0) {
      const none = element('li', { className: 'none', role: 'option' }, 'No results')
      none.setAttribute('aria-disabled', 'true')
      none.setAttribute('aria-selected', 'false')
      list.append(none)
    }
    list.hidden = false
    input.setAttribute('aria-expanded', 'true')
    if (results.length > 0) select(0)
  }

  function toItem({ id, title, page, excerpt }, at) {
    const item = element('li', { id: `result-${at}`, role: 'option' })
    item.dataset.url = id
    item.append(element('strong', {}, title))
    if (page !== '') item.append(element('p', {}, page))
    if (excerpt !== '') item.append(element('p', {}, excerpt))
    item.addEventListener('mousedown', (event) => event.preventDefault())
    item.addEventListener('click', () => open(id))
    return item
  }

  function open(url) {
    input.value = ''
    close()
    location.assign(url)
  }

  input.addEventListener('focus', () => void loadIndex(), { once: true })
  input.addEventListener('blur', close)
  input.addEventListener('input', async () => {
    const query = input.value.trim()
    if (query === '') return close()
    const results = await find(query)
    // A later input may have been answered meanwhile.
    if (input.value.trim() === query) show(results)
  })
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      input.value = ''
      close()
    } else if (event.key === 'Enter' && shown[selected] !== undefined) {
      open(shown[selected].id)
    } else if (event.key === 'ArrowDown' && shown.length > 0) {
      event.preventDefault()
      select((selected + 1) % shown.length)
    } else if (event.key === 'ArrowUp' && shown.length > 0) {
      event.preventDefault()
      select((selected - 1 + shown.length) % shown.length)
    }
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
  })
}

for (const [number, samples] of document.querySelectorAll('.samples').entries()) addTabs(samples, number)
const languages = new Set([...document.querySelectorAll('.samples .code')].map((block) => block.dataset.language))
const stored = readLanguage()
if (languages.size > 0) chooseLanguage(languages.has(stored) ? stored : [...languages][0])
for (const block of document.querySelectorAll('.code')) addCopyButton(block)
addSearch(document.querySelector('.search'))
// Tabs change the height of a page: go to the requested section again.
if (location.hash.length > 1) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView()
