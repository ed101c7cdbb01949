-- A removed casino reads no texts any more, so it is left out.
select distinct on (r.number) r.casino_id, r.number, f.casino_id as former_casino, r.since
from routes r
join former_routes f on f.number = r.number and f.casino_id <> r.casino_id
join fleet_roster() former on former.casino_id = f.casino_id
order by r.number, f.until desc
