select casino.status,
  (select count(*) from outbound_messages where state = 'delivered') as delivered,
  (select count(*) from outbound_messages where state = 'delivered'
    and class = 'opt_out_confirmation') as stop_confirmed,
  (select count(*) from outbound_messages where state = 'delivered'
    and class = 'help') as help_delivered,
  (select count(*) from guests where consent_tier in ('informational', 'marketing')) as opted_in,
  (select count(*) from guests guest where consent_tier in ('informational', 'marketing')
    and not exists (
     select from consent_events event where event.key_id = guest.key_id
       and event.phone_hash = guest.phone_hash)) as without_proof,
  (select count(*) from campaigns campaign where campaign.state = 'done' and (
     select count(*) from campaign_guests released
       where released.campaign_id = campaign.campaign_id
       and released.state = 'released') between 1 and 10) as small_campaigns
from casinos casino
