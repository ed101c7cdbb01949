/**
 * Sends edits of this spreadsheet to Hey Seven, and marks each row with what became of it.
 *
 * One tab per category (Dining, Spa, General Info, ...); the first row has the column names: id,
 * name, description, active, and the category's own. Setup: docs/editors.md.
 *
 * Script properties: URL (the webhook's address up to the casino's id), CASINO (the casino's id),
 * KEY (from `seven content key`). They are not cells: whoever can read the sheet cannot read them.
 */

const MOST_TRIES = 4;
/** Columns that Hey Seven sets; a person's edit of them is not sent. */
const OURS = ['id', 'last_modified', 'modified_by'];

/** Runs at every edit, by an installable trigger (onEdit has no right to call a server). */
function onContentEdit(event) {
  const sheet = event.range.getSheet();
  if (sheet.getName().startsWith('_')) return;
  const columns = columnsOf(sheet);
  const first = event.range.getRow();
  const last = first + event.range.getNumRows() - 1;
  const column = columns[event.range.getColumn() - 1];
  if (event.range.getNumColumns() === 1 && OURS.includes(column)) return;
  for (let row = Math.max(first, 2); row <= last; row += 1) {
    sendRow(sheet, columns, row, column, false);
  }
}

/** Sends every row of this tab again, for example after a version of the sheet was restored. */
function resyncTab() {
  told(resync(SpreadsheetApp.getActiveSheet()));
}

/** Sends every row of every tab again; tabs whose name begins with _ are left out. */
function resyncAll() {
  const sheets = SpreadsheetApp.getActiveSpreadsheet().getSheets();
  told(sheets.reduce(function (sent, sheet) { return sent + resync(sheet); }, 0));
}

function onOpen() {
  SpreadsheetApp.getUi().createMenu('Hey Seven')
    .addItem('Send this tab again', 'resyncTab')
    .addItem('Send all tabs again', 'resyncAll')
    .addToUi();
}

function resync(sheet) {
  if (sheet.getName().startsWith('_')) return 0;
  const columns = columnsOf(sheet);
  let sent = 0;
  for (let row = 2; row <= sheet.getLastRow(); row += 1) {
    if (sendRow(sheet, columns, row, '_resync', true)) sent += 1;
  }
  return sent;
}

// Says how many rows were sent; what became of each stands beside it.
function told(sent) {
  SpreadsheetApp.getActiveSpreadsheet().toast(sent + ' rows sent');
}

function columnsOf(sheet) {
  const names = sheet.getRange(1, 1, 1, sheet.getLastColumn()).getDisplayValues()[0];
  return names.map(nameOf);
}

function nameOf(text) {
  return String(text).trim().toLowerCase().replace(/[ -]/g, '_');
}

/**
 * Sends one row; returns false for a row without a name. One row is sent after the other, and read
 * anew for each try: a newer edit is never overwritten by an older one that is repeated.
 */
function sendRow(sheet, columns, row, column, resynced) {
  const lock = LockService.getDocumentLock();
  lock.waitLock(30000);
  try {
    const read = function () {
      const range = sheet.getRange(row, 1, 1, columns.length);
      return itemOf(columns, range.getDisplayValues()[0]);
    };
    if (!read().name) return false;
    const edit = {
      casino_id: property('CASINO'),
      category: nameOf(sheet.getName()),
      changed_column: column || '',
      editor_email: Session.getActiveUser().getEmail() || 'unknown editor',
      timestamp: new Date().toISOString(),
      // One edit has one id, however often it is sent.
      edit_id: Utilities.getUuid(),
      source: 'sheet',
      force_resync: resynced,
    };
    mark(sheet, columns, row, send(edit, read));
    return true;
  } finally {
    lock.releaseLock();
  }
}

/** Returns the row as an object. A blank cell empties its field; a missing column leaves it. */
function itemOf(columns, cells) {
  const item = {};
  columns.forEach(function (name, n) {
    const cell = String(cells[n]).trim();
    if (name) item[name] = cell;
  });
  if (item.details_json) {
    try {
      item.details = JSON.parse(item.details_json);
    } catch (error) {
      item.details_parse_error = error.message;
    }
  }
  return item;
}

/** Sends an edit until it is answered. Each try is signed anew; the server takes an edit once. */
function send(edit, read) {
  let answer = { code: 0, body: { error: 'no answer' } };
  for (let tried = 0; tried < MOST_TRIES; tried += 1) {
    if (tried > 0) Utilities.sleep(1000 * Math.pow(2, tried));
    answer = call(JSON.stringify(Object.assign({}, edit, { item: read() })));
    if (answer.code !== 0 && answer.code < 500 && answer.code !== 429) break;
  }
  return answer;
}

function call(body) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const url = property('URL').replace(/\/$/, '') + '/' + property('CASINO');
  try {
    const response = UrlFetchApp.fetch(url, {
      method: 'post',
      contentType: 'application/json',
      payload: body,
      headers: {
        'X-Webhook-Timestamp': timestamp,
        'X-Webhook-Signature': signature(timestamp, body, property('KEY')),
      },
      followRedirects: false,
      muteHttpExceptions: true,
    });
    return { code: response.getResponseCode(), body: parsed(response.getContentText()) };
  } catch (error) {
    return { code: 0, body: { error: error.message } };
  }
}

/** HMAC-SHA256 over the timestamp, a full stop and the body, in lower-case hex. */
function signature(timestamp, body, key) {
  const bytes = Utilities.computeHmacSha256Signature(
    timestamp + '.' + body, key, Utilities.Charset.UTF_8);
  return bytes.map(function (byte) {
    return ((byte + 256) % 256).toString(16).padStart(2, '0');
  }).join('');
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    return { error: text.slice(0, 200) };
  }
}

/** Writes into the row what became of its edit: a note per cell, and the id of a new item. */
function mark(sheet, columns, row, answer) {
  const cell = function (name) {
    const n = columns.indexOf(name);
    return n < 0 ? null : sheet.getRange(row, n + 1);
  };
  // Only our own notes: people write notes, too.
  columns.forEach(function (_name, n) {
    const one = sheet.getRange(row, n + 1);
    if (/^(Not taken|Waits for approval): /.test(one.getNote())) one.clearNote().setBackground(null);
  });
  const fallback = cell('name') || sheet.getRange(row, 1);
  if (answer.code === 200) {
    const id = cell('id');
    if (id && answer.body.item_id && !id.getDisplayValue()) id.setValue(answer.body.item_id);
    if (answer.body.status === 'review') {
      note(fallback, 'Waits for approval: ' + lines(answer.body.warnings), '#fff2cc');
    }
    return;
  }
  const fields = answer.body.fields || [];
  fields.forEach(function (one) {
    const at = cell(one.field.replace(/^details\./, '')) || fallback;
    note(at, 'Not taken: ' + one.problem + '; ' + one.fix, '#f4cccc');
  });
  if (fields.length === 0) {
    note(fallback, 'Not taken: ' + (answer.body.error || 'unknown error'), '#f4cccc');
  }
}

function lines(findings) {
  return (findings || []).map(function (one) { return one.field + ' ' + one.problem; }).join('; ');
}

function note(range, text, colour) {
  range.setNote(text).setBackground(colour);
}

function property(name) {
  return PropertiesService.getScriptProperties().getProperty(name) || '';
}
