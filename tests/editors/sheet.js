// Runs deploy/editors/content.gs in Node against a webhook, with doubles of the few services of a
// spreadsheet that it uses. Prints one JSON line per step: the notes and cells of the row.
//
// node sheet.js SCRIPT URL CASINO KEY
const crypto = require('crypto');
const fs = require('fs');
const vm = require('vm');
const { execFileSync } = require('child_process');

const [script, url, casino, key] = process.argv.slice(2);
const columns = ['id', 'Name', 'Description', 'Active', 'Treatment Type', 'Duration Minutes', 'Price'];
const cells = [
  columns,
  ['spa_001', 'Swedish Massage', 'A classic massage.', 'TRUE', 'Massage', '60', '$180'],
];
const notes = {};
const toasts = [];
let lost = 0;

class Range {
  constructor(row, column, width, rows) { Object.assign(this, { row, column, width, rows: rows || 1 }); }
  getSheet() { return sheet; }
  getRow() { return this.row; }
  getNumRows() { return this.rows; }
  getColumn() { return this.column; }
  getNumColumns() { return this.width; }
  getDisplayValues() { return [cells[this.row - 1].slice(this.column - 1, this.column - 1 + this.width)]; }
  getDisplayValue() { return cells[this.row - 1][this.column - 1]; }
  setValue(value) { cells[this.row - 1][this.column - 1] = value; return this; }
  getNote() { return notes[columns[this.column - 1]] || ''; }
  clearNote() { for (let n = 0; n < this.width; n += 1) delete notes[columns[this.column - 1 + n]]; return this; }
  setNote(text) { notes[columns[this.column - 1]] = text; return this; }
  setBackground() { return this; }
}
const sheet = {
  getName: () => 'Spa',
  getLastColumn: () => columns.length,
  getLastRow: () => cells.length,
  getRange: (row, column, _rows, width) => new Range(row, column, width || 1),
};
const services = {
  Utilities: {
    Charset: { UTF_8: 'utf8' },
    computeHmacSha256Signature: (text, secret) =>
      [...crypto.createHmac('sha256', secret).update(text).digest()].map((byte) => (byte > 127 ? byte - 256 : byte)),
    getUuid: () => crypto.randomUUID(),
    // The next try is signed in a later second.
    sleep: () => execFileSync('sleep', ['1.1']),
  },
  UrlFetchApp: {
    fetch(address, options) {
      const headers = Object.entries(options.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const out = execFileSync('curl', ['-s', '-w', '\n%{http_code}', '-H', 'content-type: application/json', ...headers,
        '--data-binary', '@-', address], { input: options.payload }).toString();
      const end = out.lastIndexOf('\n');
      if (lost > 0) { lost -= 1; throw new Error('the answer was lost'); }
      return { getResponseCode: () => Number(out.slice(end + 1)), getContentText: () => out.slice(0, end) };
    },
  },
  PropertiesService: { getScriptProperties: () => ({ getProperty: (name) => ({ URL: url, CASINO: casino, KEY: key })[name] }) },
  Session: { getActiveUser: () => ({ getEmail: () => 'ana@example.com' }) },
  SpreadsheetApp: {
    getActiveSheet: () => sheet,
    getActiveSpreadsheet: () => ({ getSheets: () => [sheet], toast: (text) => toasts.push(text) }),
  },
  LockService: { getDocumentLock: () => ({ waitLock: () => {}, releaseLock: () => {} }) },
};
vm.createContext(services);
vm.runInContext(fs.readFileSync(script, 'utf8'), services);

const edit = (row, column, value) => {
  cells[row - 1][column] = value;
  services.onContentEdit({ range: new Range(row, column + 1, 1) });
  console.log(JSON.stringify({ notes: { ...notes }, cells: cells[row - 1] }));
};
edit(2, 6, '$175'); // taken
edit(2, 6, '$17'); // waits for approval
edit(2, 6, 'cheap'); // refused, with a note at the cell
lost = 1;
edit(2, 6, '$178'); // the answer is lost once; one revision
cells.push(['', 'Hot Stone Massage', 'Warm stones.', 'TRUE', 'Massage', '90', '']);
edit(3, 6, '$210'); // a new row gets its id
const id = cells[2][0];
edit(3, 0, 'mine'); // the id is ours: nothing is sent
cells[2][0] = id;
// Two cells pasted at once are two edits.
cells[1][6] = '$176';
cells[2][6] = '$212';
services.onContentEdit({ range: new Range(2, 7, 1, 2) });
console.log(JSON.stringify({ notes: { ...notes }, cells }));
services.resyncTab(); // nothing is new
services.resyncAll();
console.log(JSON.stringify({ toasts }));
